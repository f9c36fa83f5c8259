/**
 * A sample ledger, block by block: genesis, then blocks of users' transactions, epochs that end, for ever. There is
 * no virtual machine: a model of the state changes the way the called functions would change it, and writes the
 * effects. The same settings always give the same bytes, however far one goes and whether one goes there in one run
 * or in several.
 */
import { BcsWriter, encodeBcs } from '../../move/bcs-writer.ts';
import type { BlockEpilogue } from '../../move/block-transaction.ts';
import { encodeTransaction, type Transaction } from '../../move/transaction.ts';
import type { ExecutionStatus } from '../../move/transaction-info.ts';
import type { Block, EpochEnd } from '../../store/block-column.ts';
import type { ChunkTransaction } from '../../store/chunk.ts';
import type { Address } from '../../move/address.ts';
import { ADDRESS_ZERO } from '../../move/address.ts';
import { FAUCET_ACCOUNT } from './accounts.ts';
import { type BlockHeader, FIRST_BLOCK_TIME_USECS, MODULE_EVENT_EPOCH, VALIDATORS } from './chain.ts';
import { Effects, eventType } from './effects.ts';
import type { SampleSettings } from './genesis-resources.ts';
import { TransactionMix } from './mix.ts';
import { derivedBytes } from './random.ts';
import { LedgerRecorder } from './recorder.ts';
import { createGenesisState, createSampleWorld, type SampleWorld } from './sample-world.ts';
import { buildTransaction, GAS_UNIT_PRICE } from './submission.ts';
import type { Call, World } from './world.ts';
