// The whole flow of an application with the Go SDK, unchanged, against one URL: flow URL PRIVATE_KEY RECEIVER AMOUNT
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"strconv"

	"github.com/aptos-labs/aptos-go-sdk"
	"github.com/aptos-labs/aptos-go-sdk/crypto"
)

// must ends the program on any error.
func must[T any](value T, err error) T {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return value
}

func main() {
	url, key, receiverText := os.Args[1], os.Args[2], os.Args[3]
	amount := must(strconv.ParseUint(os.Args[4], 10, 64))
	client := must(aptos.NewClient(aptos.NetworkConfig{NodeUrl: url}))
	secret := &crypto.Ed25519PrivateKey{}
	must(0, secret.FromHex(key))
	sender := must(aptos.NewAccountFromSigner(secret))
	var receiver aptos.AccountAddress
	must(0, receiver.ParseStringRelaxed(receiverText))

	call := must(aptos.CoinTransferPayload(nil, receiver, amount))
	raw := must(client.BuildTransaction(sender.AccountAddress(), aptos.TransactionPayload{Payload: call}))
	simulated := must(client.SimulateTransaction(raw, sender))[0]
	signed := must(raw.SignedTransaction(sender))
	submitted := must(client.SubmitTransaction(signed))
	waited := must(client.WaitForTransaction(submitted.Hash))

	// Everything from here on is read.
	read := must(must(client.TransactionByVersion(waited.Version)).UserTransaction())
	blocks := must(client.EventsByHandle(aptos.AccountOne, "0x1::block::BlockResource", "new_block_events", nil, nil))
	height := blocks[0].Data["height"]
	for _, block := range blocks {
		// A block begins with a transaction that emits its event.
		if block.Version < waited.Version {
			height = block.Data["height"]
		}
	}
	account := must(client.Account(sender.AccountAddress()))
	sent := must(client.AccountTransactions(sender.AccountAddress(), nil, nil))
	balance := func(of aptos.AccountAddress) string {
		return strconv.FormatUint(must(client.AccountAPTBalance(of)), 10)
	}
	viewed := must(client.View(&aptos.ViewPayload{
		Module:   aptos.ModuleId{Address: aptos.AccountOne, Name: "coin"},
		Function: "balance",
		ArgTypes: []aptos.TypeTag{aptos.AptosCoinTypeTag},
		Args:     [][]byte{receiver[:]},
	}))[0]
	events := []string{}
	for _, event := range read.Events {
		events = append(events, event.Type)
	}
	seen := map[string]any{
		"sender":          sender.Address.StringLong(),
		"gasUnitPrice":    strconv.FormatUint(raw.GasUnitPrice, 10),
		"simulated":       []any{simulated.Success, strconv.FormatUint(simulated.GasUsed, 10)},
		"hash":            submitted.Hash,
		"waited":          []any{"user_transaction", waited.Success, waited.Hash},
		"isReadAgain":     reflect.DeepEqual(read, waited),
		"senderBalance":   balance(sender.AccountAddress()),
		"receiverBalance": balance(receiver),
		"viewed":          viewed,
		"events":          events,
		"blockHeight":     height,
		"sequenceNumber":  strconv.FormatUint(must(account.SequenceNumber()), 10),
		"lastSent":        sent[len(sent)-1].Hash(),
	}
	fmt.Println(string(must(json.Marshal(seen))))
}
