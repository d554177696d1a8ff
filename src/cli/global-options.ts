import type { Reeve } from '../verbs/reeve.ts'
import type { Options } from './options.ts'

/** The options of every subcommand. */
export const GLOBAL_OPTIONS = {
  json: { type: 'flag', about: 'print the answer as JSON' },
  jsonl: { type: 'flag', about: 'print the answer as JSON lines, one per item' },
  home: {
    type: 'text',
    value: 'folder',
    about: "the daemon's home; by default REEVE_HOME, otherwise ~/.reeve",
  },
  url: { type: 'text', value: 'url', about: 'the address of a daemon; by default REEVE_URL' },
  token: {
    type: 'text',
    value: 'token',
    about: 'a token for that daemon; by default REEVE_TOKEN, otherwise the token in the home',
  },
  as: { type: 'text', value: 'actor', about: 'act as session:<id> or process:<pid>' },
  'no-start': { type: 'flag', about: 'fail if no daemon runs, instead of starting one' },
  color: {
    type: 'text',
    value: 'when',
    choices: ['auto', 'always', 'never'],
    about: 'auto: on a terminal, without NO_COLOR',
  },
  help: { type: 'flag', short: 'h', about: 'describe this subcommand' },
} as const

export type GlobalOptions = Options<typeof GLOBAL_OPTIONS>

export function isActor(text: string): text is Parameters<Reeve['as']>[0] {
  return /^(host|(session|process|kernel):.+)$/s.test(text)
}
