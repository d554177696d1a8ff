import type { EmbedOptions } from 'reeve'
import { PRESETS } from '../src/core/capability/presets.ts'

const preset = PRESETS.find((one) => one === process.env['REEVE_SESSION_PRESET'])

/** The preset of `npm run test:policy` for embedded kernels. Daemons that tests start read the same variable as a setting. */
export const TEST_PRESET: Pick<EmbedOptions, 'sessionPreset'> =
  preset === undefined ? {} : { sessionPreset: preset }
