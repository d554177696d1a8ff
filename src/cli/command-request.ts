import { randomUUID } from 'node:crypto'
import { resolve } from 'node:path'
import type { InputOf, ReeveVerbs } from '../verbs/reeve.ts'
import { allowanceIn } from './allow.ts'
import type { CallerEnvironment } from './caller-environment.ts'
import type { Context } from './context.ts'
import { terminalOf } from './foreground/terminal.ts'
import { putSecretEnvironment } from './secret-options.ts'
import type { RunOptions } from './subcommands/run.ts'
import { UsageError } from './usage-error.ts'

export type CommandRequest = Extract<InputOf<'spawn'>, { kind: 'command' }>

/** The output that is kept for a reader behind a pipe, which wants every byte and may be slower than the command. */
const KEEP_BYTES = 1024 ** 3

/** Builds the `spawn` request of `reeve run`. */
export async function commandRequest(
  context: Context<RunOptions>,
  reeve: ReeveVerbs,
  {
    pty,
    hasInput,
    given,
  }: { readonly pty: boolean; readonly hasInput: boolean; readonly given: CallerEnvironment },
): Promise<CommandRequest> {
  const { options, around, args } = context
  const cwd = resolve(around.cwd, options.cwd ?? '.')
  const { session, parent, timeout, grace, lifetime, name } = options
  const idle = options['idle-timeout']
  return {
    kind: 'command',
    idempotencyKey: randomUUID(),
    cwd,
    spec: {
      ...(options.shell === undefined ? { argv: [...args] } : { run: options.shell }),
      env: environmentOf(around.env, { cwd, given: options.env, passed: passedNames(given, { pty }) }),
      ...given.spec,
      ...(options['pass-env'].length === 0 ? {} : { passEnv: [...options['pass-env']] }),
      ...(pty ? { pty: around.stdout.isTTY ? terminalOf(around).size() : true } : {}),
      ...(pty || (options.detach && !options.split) ? {} : { output: 'tagged' as const }),
      ...(pty || options.detach ? {} : { keepBytes: KEEP_BYTES }),
      ...(pty || !hasInput ? {} : { stdin: 'pipe' as const }),
      ...(timeout === undefined ? {} : { timeoutMs: timeout }),
      ...(idle === undefined ? {} : { idleTimeoutMs: idle }),
      ...(grace === undefined ? {} : { graceMs: grace }),
      ...attentionOf(options),
    },
    ...given.request,
    ...secretsIn(around.env, options['pass-env']),
    ...(await putSecretEnvironment(reeve, options.secret)),
    ...(name === undefined ? {} : { name }),
    ...(options.replace ? { ifRunning: 'replace' as const } : {}),
    ...(options['if-not-running'] ? { ifRunning: 'keep' as const } : {}),
    ...allowanceIn(options.allow),
    ...(session === undefined ? {} : { owner: { session } }),
    ...(parent === undefined ? {} : { parent: (await reeve.show({ pid: parent })).pid }),
    ...(lifetime === undefined ? {} : { lifetime: lifetime as NonNullable<CommandRequest['lifetime']> }),
  }
}

/** The values of `--pass-env` names that this shell has. The daemon looks up the others in its environment. */
function secretsIn(
  env: Readonly<Record<string, string | undefined>>,
  names: readonly string[],
): Pick<CommandRequest, 'secrets'> {
  const here = names.flatMap((name) => {
    const value = env[name]
    return value === undefined ? [] : [[name, value] as const]
  })
  return here.length === 0 ? {} : { secrets: Object.fromEntries(here) }
}

/** The notices about the command that its session, or the person at the machine, gets. */
function attentionOf(options: RunOptions): Partial<CommandRequest['spec']> {
  const { watch, ready, heartbeat, notify, restart } = options
  // A command without a session or a parent has no inbox. `notify` asks for the inbox of the person.
  const isUnowned = options.session === undefined && options.parent === undefined
  const told = notify ?? (options.detach ? (isUnowned ? 'complete' : undefined) : 'none')
  const timeoutMs = options['ready-timeout']
  if (timeoutMs !== undefined && ready === undefined)
    throw new UsageError('--ready-timeout needs --ready.', 'Give the readiness check, like --ready :8080')
  return {
    ...(watch.length === 0 ? {} : { watch: [...new Set(watch)].map(watchedIn) }),
    ...(ready === undefined
      ? {}
      : { ready: { ...readyIn(ready), ...(timeoutMs === undefined ? {} : { timeoutMs }) } }),
    ...(told === undefined ? {} : { notify: told as 'complete' | 'failure' | 'none' }),
    ...(heartbeat === undefined ? {} : { heartbeatMs: heartbeat }),
    ...(restart === undefined
      ? {}
      : {
          restart: {
            on: restart as 'never' | 'failure' | 'always',
            ...(options['restart-limit'] === undefined ? {} : { limit: options['restart-limit'] }),
          },
        }),
  }
}

function watchedIn(text: string): { readonly text: string } | { readonly pattern: string } {
  const pattern = patternIn(text)
  return pattern === null ? { text } : { pattern }
}

type ReadyWhen = NonNullable<CommandRequest['spec']['ready']>

function readyIn(text: string): ReadyWhen {
  const pattern = patternIn(text)
  if (pattern !== null) return { log: pattern }
  if (/^https?:\/\//.test(text)) return { http: text }
  const { host, port } =
    /^(?:(?<host>[\w.-]+|\[[\da-f:]+\]|\*)?:)?(?<port>\d{1,5})$/i.exec(text)?.groups ?? {}
  if (port === undefined) return { command: text }
  if (Number(port) < 1 || Number(port) > LAST_PORT)
    throw new UsageError(`--ready was given ${text}.`, `A port is a number from 1 to ${LAST_PORT}.`)
  if (host === undefined || THIS_MACHINE.test(host)) return { port: Number(port) }
  throw new UsageError(
    `--ready ${text}: ports are checked on this machine only.`,
    `Give a port, :${port}, a URL, http://${text}, or a shell line that succeeds when it is ready.`,
  )
}

const LAST_PORT = 65_535
const THIS_MACHINE = /^(localhost|127(\.\d{1,3}){3}|0\.0\.0\.0|\[::1?\]|\*)$/i

/** A pattern is written between slashes, as in JavaScript and sed. */
function patternIn(text: string): string | null {
  return text.length > 2 && text.startsWith('/') && text.endsWith('/') ? text.slice(1, -1) : null
}

/** Variables that a command without the whole environment still gets: PATH, and the type of the terminal. */
function passedNames({ spec }: CallerEnvironment, { pty }: { readonly pty: boolean }): readonly string[] {
  if (spec.inheritEnv === 'whole') return []
  return ['PATH', ...(pty ? ['TERM', 'COLORTERM'] : [])]
}

/** The variables of the request: those passed from this shell, `PWD`, and those of `--env`. */
function environmentOf(
  here: Readonly<Record<string, string | undefined>>,
  {
    cwd,
    given,
    passed: names,
  }: { readonly cwd: string; readonly given: readonly string[]; readonly passed: readonly string[] },
): Record<string, string> {
  const passed = names.flatMap((name) => {
    const value = here[name]
    return value === undefined ? [] : [[name, value] as const]
  })
  const own = given.flatMap((text) => {
    const at = text.indexOf('=')
    if (at === 0) throw new UsageError(`--env was given ${text}.`, 'It takes NAME=value, or NAME.')
    if (at > 0) return [[text.slice(0, at), text.slice(at + 1)] as const]
    const value = here[text]
    return value === undefined ? [] : [[text, value] as const]
  })
  return { ...Object.fromEntries(passed), PWD: cwd, ...Object.fromEntries(own) }
}
