import type { Reeve } from '../verbs/reeve.ts'
import type { Options } from './options.ts'

/** What every word takes. */
export const GLOBAL_OPTIONS = {
  json: { type: 'flag', about: 'the answer as JSON' },
  jsonl: { type: 'flag', about: 'the answer as JSON lines, one for each thing' },
  home: { type: 'text', value: 'folder', about: "the daemon's home; REEVE_HOME, else ~/.reeve" },
  url: { type: 'text', value: 'url', about: 'a daemon elsewhere; REEVE_URL' },
  token: { type: 'text', value: 'token', about: 'a token for it; REEVE_TOKEN, else the one in the home' },
  as: { type: 'text', value: 'actor', about: 'act as session:<id> or process:<pid>' },
  'no-start': { type: 'flag', about: 'fail if no daemon runs, instead of starting one' },
  color: {
    type: 'text',
    value: 'when',
    choices: ['auto', 'always', 'never'],
    about: 'auto: on a terminal, without NO_COLOR',
  },
  help: { type: 'flag', short: 'h', about: 'what this word takes' },
} as const

export type GlobalOptions = Options<typeof GLOBAL_OPTIONS>

export function isActor(text: string): text is Parameters<Reeve['as']>[0] {
  return /^(host|(session|process|kernel):.+)$/s.test(text)
}
