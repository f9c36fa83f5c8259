/** Codecs of the framework's resources that only tests read (docs/spec/ledger.md §2.3). */

import { codec } from '../../../src/move/bcs/codec.ts';
import { frameworkTag } from '../../../src/move/types/framework-tag.ts';
import { type EventHandle, eventHandleCodec } from '../../../src/move/values/framework-resource.ts';

const readHandle = eventHandleCodec.read;
const writeHandle = eventHandleCodec.write;

/**
 * `0x1::reconfiguration::Configuration`. Its epoch is one ahead of the ledger's at the end of an
 * epoch.
 */
interface Configuration {
  readonly epoch: bigint;
  /** Microseconds since 1970. */
  readonly lastReconfigurationUsecs: bigint;
  readonly events: EventHandle;
}

export const configurationCodec = codec<Configuration>(
  (reader) => ({
    epoch: reader.u64(),
    lastReconfigurationUsecs: reader.u64(),
    events: readHandle(reader),
  }),
  (writer, configuration) => {
    writer.u64(configuration.epoch).u64(configuration.lastReconfigurationUsecs);
    writeHandle(writer, configuration.events);
  },
);

/** `0x1::block::BlockResource`. */
interface BlockResource {
  readonly height: bigint;
  /** Microseconds. */
  readonly epochIntervalUsecs: bigint;
  readonly newBlockEvents: EventHandle;
  readonly updateEpochIntervalEvents: EventHandle;
}

export const blockResourceCodec = codec<BlockResource>(
  (reader) => ({
    height: reader.u64(),
    epochIntervalUsecs: reader.u64(),
    newBlockEvents: readHandle(reader),
    updateEpochIntervalEvents: readHandle(reader),
  }),
  (writer, block) => {
    writer.u64(block.height).u64(block.epochIntervalUsecs);
    writeHandle(writer, block.newBlockEvents);
    writeHandle(writer, block.updateEpochIntervalEvents);
  },
);

export const BLOCK_RESOURCE_TAG = frameworkTag('block', 'BlockResource');
export const CONFIGURATION_TAG = frameworkTag('reconfiguration', 'Configuration');
export const NEW_BLOCK_EVENT_TAG = frameworkTag('block', 'NewBlockEvent');
export const NEW_EPOCH_EVENT_TAG = frameworkTag('reconfiguration', 'NewEpochEvent');
