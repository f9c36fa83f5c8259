/** How many items a page holds (docs/spec/http.md §5.3, §7.1). */
import { ApiError } from '../http/error-table.ts';

/**
 * The page size for an asked limit: `normal` when none is asked, never above `maximum`.
 * @throws ApiError 400 `invalid_input` for 0
 */
export function pageSize(limit: number | undefined, normal: number, maximum: number): number {
  if (limit === 0) {
    throw new ApiError(400, 'invalid_input', 'Given limit value (0) must not be zero');
  }
  return Math.min(limit ?? normal, maximum);
}
