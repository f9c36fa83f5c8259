/** The supply of an asset, from its view function. */
import { formatJson, type Json } from '../asking/exact-json.ts';

/** The request body of the view function's call. */
export function supplyBody(asset: string): string {
  return formatJson(
    asset.includes('::')
      ? { function: '0x1::coin::supply', type_arguments: [asset], arguments: [] }
      : {
          function: '0x1::fungible_asset::supply',
          type_arguments: ['0x1::fungible_asset::Metadata'],
          arguments: [asset],
        },
  );
}

/** The supply in a response; undefined if the asset does not track it. */
export function supplyIn(json: readonly Json[] | undefined): bigint | undefined {
  const [digits] = (json?.[0] as { vec?: readonly string[] } | undefined)?.vec ?? [];
  return digits === undefined ? undefined : BigInt(digits);
}
