/** How much there is of an asset: by the view function that tells it. */
import { formatJson, type Json } from '../asking/exact-json.ts';

/** The call of the view function. */
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

/** The supply in an answer; undefined where the asset does not tell it. */
export function supplyIn(json: readonly Json[] | undefined): bigint | undefined {
  const [digits] = (json?.[0] as { vec?: readonly string[] } | undefined)?.vec ?? [];
  return digits === undefined ? undefined : BigInt(digits);
}
