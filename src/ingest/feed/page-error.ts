/** Errors of pages that do not match their hashes. None of such a page is stored. */
import { RemoteError } from '../../remote/remote-error.ts';

export type PageField =
  | 'page'
  | 'version'
  | 'transaction'
  | 'info'
  | 'events'
  | 'accumulator_root_hash'
  | 'changes';

/** The error of a page, as plain data that can be sent between threads. */
export interface PageFault {
  readonly code: 'page_malformed' | 'page_unproved' | 'trust_contradicts' | 'waypoint_mismatch';
  readonly version: bigint;
  readonly field: PageField;
  readonly detail: string;
}

export class PageError extends RemoteError {
  readonly fault: PageFault;
  readonly version: bigint;
  readonly field: PageField;

  constructor(fault: PageFault) {
    const { code, version, field, detail } = fault;
    super(code, `version ${version}, ${field}: ${detail}`);
    this.fault = fault;
    this.version = version;
    this.field = field;
  }
}
