/** Reeve as a second peer, whose keeper is killed together with its daemon. For the crash measurement only. */
import { type OpenOptions, openWith } from './adapter.ts'

export { capabilities, version } from './adapter.ts'

export const name = 'reeve-keeper-too'
export const open = (options: OpenOptions) => openWith(options, true)
