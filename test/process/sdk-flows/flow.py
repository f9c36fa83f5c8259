"""The whole flow of an application with the Python SDK, unchanged, against one URL.

python flow.py URL PRIVATE_KEY RECEIVER AMOUNT
"""

import asyncio
import json
import sys

from aptos_sdk.account import Account
from aptos_sdk.account_address import AccountAddress
from aptos_sdk.async_client import RestClient
from aptos_sdk.bcs import Serializer
from aptos_sdk.transactions import (
    EntryFunction,
    SignedTransaction,
    TransactionArgument,
    TransactionPayload,
)

COIN = "0x1::aptos_coin::AptosCoin"


async def main(url: str, key: str, receiver_text: str, amount: str) -> None:
    client = RestClient(url)
    sender = Account.load_key(key)
    receiver = AccountAddress.from_str(receiver_text)

    call = EntryFunction.natural(
        "0x1::aptos_account",
        "transfer",
        [],
        [
            TransactionArgument(receiver, Serializer.struct),
            TransactionArgument(int(amount), Serializer.u64),
        ],
    )
    raw = await client.create_bcs_transaction(sender, TransactionPayload(call))
    [simulated] = await client.simulate_transaction(raw, sender)
    signed = SignedTransaction(raw, sender.sign_transaction(raw))
    transaction_hash = await client.submit_bcs_transaction(signed)
    await client.wait_for_transaction(transaction_hash)

    # Everything from here on is read.
    waited = await client.transaction_by_hash(transaction_hash)
    read = await client.transaction_by_version(int(waited["version"]))
    viewed = await client.view("0x1::coin::balance", [COIN], [receiver_text])
    blocks = await client.events_by_event_handle(
        AccountAddress.from_str("0x1"), "0x1::block::BlockResource", "new_block_events"
    )
    # A block begins with a transaction that emits its event.
    block = [event for event in blocks if int(event["version"]) < int(waited["version"])][-1]
    sent = await client.transactions_by_account(sender.address())
    seen = {
        "sender": "0x" + sender.address().address.hex(),
        "gasUnitPrice": str(raw.gas_unit_price),
        "simulated": [simulated["success"], simulated["gas_used"]],
        "hash": transaction_hash,
        "waited": [waited["type"], waited["success"], waited["hash"]],
        "isReadAgain": read == waited,
        "senderBalance": str(await client.account_balance(sender.address())),
        "receiverBalance": str(await client.account_balance(receiver)),
        "viewed": json.loads(viewed)[0],
        "events": [event["type"] for event in read["events"]],
        "blockHeight": block["data"]["height"],
        "sequenceNumber": str(await client.account_sequence_number(sender.address())),
        "lastSent": sent[-1]["hash"],
    }
    await client.close()
    print(json.dumps(seen))


asyncio.run(main(*sys.argv[1:]))
