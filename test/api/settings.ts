/** Settings of an API under test. */
import { API_CONSTANTS, API_SETTINGS, type ApiSettings } from '../../src/api/settings.ts';
import { isAllowed } from '../../src/node/settings/setting-sources.ts';

/** The defaults, overridden by `changes`. @throws TypeError for values that a node would refuse */
export function apiSettings(changes: Partial<ApiSettings> = {}): ApiSettings {
  const settings = Object.entries(API_SETTINGS).map(([name, setting]) => {
    const value = changes[name as keyof ApiSettings] ?? setting.default;
    if (!isAllowed(setting, value)) throw new TypeError(`${name}: ${JSON.stringify(value)}`);
    return [name, value];
  });
  return { ...API_CONSTANTS, ...changes, ...Object.fromEntries(settings) } as ApiSettings;
}
