/** Calls of view functions by programs that have a node inside. */

export interface ViewFunctionCall {
  /** `ADDRESS::MODULE::NAME`. */
  readonly function: string;
  readonly typeArguments?: readonly string[] | undefined;
  /** In the form of the API: integers of 64 bits and more are texts. */
  readonly arguments?: readonly unknown[] | undefined;
  /** Absent: the newest. */
  readonly version?: bigint | undefined;
}

/** A call that gave no values; `message` is the API's. */
export class ViewCallError extends Error {
  readonly status: number;
  /** `error_code` of the API. */
  readonly code: string;
  /** The status code of the virtual machine, when running failed. */
  readonly vmErrorCode: number | undefined;

  constructor(status: number, answer: ErrorAnswer) {
    super(answer.message);
    this.name = 'ViewCallError';
    this.status = status;
    this.code = answer.error_code;
    this.vmErrorCode = answer.vm_error_code ?? undefined;
  }
}

interface ErrorAnswer {
  readonly message: string;
  readonly error_code: string;
  readonly vm_error_code: number | null;
}

/** @throws ViewCallError */
export async function callView(url: string, call: ViewFunctionCall): Promise<unknown[]> {
  const { function: name, typeArguments = [], arguments: args = [], version } = call;
  const query = version === undefined ? '' : `?ledger_version=${version}`;
  const response = await fetch(`${url}/view${query}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ function: name, type_arguments: typeArguments, arguments: args }),
  });
  const answer = (await response.json()) as unknown;
  if (!response.ok) throw new ViewCallError(response.status, answer as ErrorAnswer);
  return answer as unknown[];
}
