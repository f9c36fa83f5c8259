/** Whether a parameter is a signer, which the chain supplies (docs/spec/encode.md §A4, step 5). */
export function isSigner(type: string): boolean {
  return /^(?:&(?:mut )?)?signer$/.test(type);
}
