import { APPENDS_BASE_PATH, type Environment } from '../../core/environment/environment.ts'
import { MAX_SESSION_ENVIRONMENT_CHARS } from '../../core/environment/put.ts'
import { Redaction } from '../../redaction/redaction.ts'
import { withoutSecrets } from './sanitise.ts'

type Variables = Readonly<Record<string, string | undefined>>

/** Variables of the client's shell and package runner, which mean nothing to a command that runs elsewhere. */
const OF_THE_CLIENT = /^(_|SHLVL|PWD|OLDPWD|PS[0-4]|INIT_CWD|npm_.*|REEVE_.*|NODE_CHANNEL_.*)$/
/** Of the client's terminal. They differ in each one, and every different set of variables is stored. */
const OF_THE_TERMINAL =
  /^(TERM|TERMCAP|COLUMNS|LINES|STY|WINDOW|WINDOWID|GPG_TTY|SSH_(CONNECTION|CLIENT|TTY)|(TERM|ITERM|WT|XDG)_SESSION(_ID)?|KITTY_(PID|WINDOW_ID)|WEZTERM_PANE|TMUX.*|VSCODE_.*)$/
/** Names that an environment may hold. */
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/
/** Linux takes no longer `NAME=value` than this. */
const MAX_VARIABLE_CHARS = 128 * 1024
/** The rest is for the options, and the names of the parts. */
const MAX_CHARS = MAX_SESSION_ENVIRONMENT_CHARS - 100

/**
 * The variables of an MCP client that its commands get: all but secrets, recognised by name or by the shape of their value,
 * and but the client's own. Beyond `MAX_CHARS` the longest are left out.
 */
function sharedVariables(client: Variables): Record<string, string> {
  const masker = new Redaction().masker()
  const shared = Object.entries(withoutSecrets(client)).filter(
    ([name, value]) =>
      NAME.test(name) &&
      !OF_THE_CLIENT.test(name) &&
      !OF_THE_TERMINAL.test(name) &&
      masker.text(`${name}=${value}`) === `${name}=${value}`,
  )
  // As JSON, in which some characters are longer.
  const sizeOf = ([name, value]: [string, string]) =>
    JSON.stringify(name).length + JSON.stringify(value).length + 2
  const kept: [string, string][] = []
  let chars = 0
  for (const entry of shared.sort((one, other) => sizeOf(one) - sizeOf(other))) {
    chars += sizeOf(entry)
    if (chars > MAX_CHARS || sizeOf(entry) >= MAX_VARIABLE_CHARS) break
    kept.push(entry)
  }
  return Object.fromEntries(kept.sort(([one], [other]) => (one < other ? -1 : 1)))
}

/** The environment of an MCP client, to be stored under the hash of its content. */
export function clientEnvironment(client: Variables): Environment {
  return { variables: sharedVariables(client), policy: {}, options: { [APPENDS_BASE_PATH]: true } }
}

/** The folders of the client's `PATH`, then those of the base that it does not have: a client of a desktop knows few. */
export function joinedPaths(client: string, base: string | undefined): string {
  return [...new Set([...client.split(':'), ...(base ?? '').split(':')])].filter(Boolean).join(':')
}
