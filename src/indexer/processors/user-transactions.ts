/** User transactions, their signatures, and block metadata. */
import type { RowSink } from '../rows/row-buffer.ts';
import { signatureTypeOf, signersOf } from './signers.ts';
import { fullAddress, type TransactionFacts, timeOfUsecs } from './transaction-facts.ts';

const MAX_NAME_CHARACTERS = 1_000;

export function userTransactions(facts: TransactionFacts, rows: RowSink): void {
  if (facts.transaction.type === 'block_metadata_transaction') putBlock(facts, rows);
  if (!facts.isOfUser) return;
  putTransaction(facts, rows);
  putSignatures(facts, rows);
}

function putTransaction(facts: TransactionFacts, rows: RowSink): void {
  const { transaction } = facts;
  const name = facts.entryFunction ?? '';
  const [address, module, called] = name.split('::');
  rows.put('user_transactions', {
    version: facts.version,
    block_height: facts.blockHeight,
    epoch: facts.epoch,
    timestamp: facts.timestamp,
    sender: facts.sender,
    sequence_number: facts.sequenceNumber,
    parent_signature_type: signatureTypeOf(facts),
    max_gas_amount: transaction.max_gas_amount,
    gas_unit_price: transaction.gas_unit_price,
    expiration_timestamp_secs: timeOfUsecs(
      BigInt(transaction.expiration_timestamp_secs!) * 1_000_000n,
    ),
    entry_function_id_str: name.slice(0, MAX_NAME_CHARACTERS),
    entry_function_contract_address: name === '' ? null : fullAddress(address!),
    entry_function_module_name: module ?? null,
    entry_function_function_name: called ?? null,
  });
}

function putSignatures(facts: TransactionFacts, rows: RowSink): void {
  for (const { address, index, isSender, type, threshold, keys } of signersOf(facts)) {
    const used = keys.filter(({ signature }) => signature !== undefined);
    const indices = used.map((key) => key.index);
    used.forEach(({ publicKey, signature }, at) => {
      rows.put('signatures', {
        transaction_version: facts.version,
        multi_agent_index: index,
        multi_sig_index: at,
        is_sender_primary: isSender,
        transaction_block_height: facts.blockHeight,
        signer: address,
        type,
        public_key: publicKey,
        signature,
        threshold,
        public_key_indices: indices,
      });
    });
  }
}

function putBlock(facts: TransactionFacts, rows: RowSink): void {
  const { transaction } = facts;
  rows.put('block_metadata_transactions', {
    version: facts.version,
    block_height: facts.blockHeight,
    id: transaction.id,
    epoch: transaction.epoch,
    round: transaction.round,
    proposer: fullAddress(transaction.proposer!),
    failed_proposer_indices: transaction.failed_proposer_indices,
    previous_block_votes_bitvec: transaction.previous_block_votes_bitvec,
    timestamp: facts.timestamp,
  });
}
