import { resolve } from 'node:path'
import { readProc, whereReadable } from '../os/proc-files.ts'
import { limitsOf, type ResourceLimits } from '../os/resource-limits.ts'
import { statOf } from '../os/stat.ts'
import type { InputOf } from '../verbs/reeve.ts'
import type { Context } from './context.ts'
import { readEnvFile } from './env-file.ts'
import { UsageError } from './usage-error.ts'

type CommandRequest = Extract<InputOf<'spawn'>, { kind: 'command' }>
type Inherited = NonNullable<CommandRequest['inherited']>

/** The part of this shell's environment that a command gets. It is stored nowhere. */
export interface CallerEnvironment {
  readonly spec: Pick<CommandRequest['spec'], 'inheritEnv' | 'keepEnv'>
  readonly request: Pick<CommandRequest, 'inherited'>
}

interface EnvironmentOptions {
  readonly detach: boolean
  readonly 'inherit-env': boolean
  readonly 'no-inherit-env': boolean
  readonly 'env-file': readonly string[]
}

/** In the foreground, and with `--inherit-env`, the whole environment; and the variables of `--env-file`. */
export async function readCallerEnvironment(
  context: Context<EnvironmentOptions>,
): Promise<CallerEnvironment> {
  const { options, around } = context
  if (options['inherit-env'] && options['no-inherit-env'])
    throw new UsageError('--inherit-env and --no-inherit-env exclude each other.', 'Give one of them.')
  const variables = Object.assign(
    {},
    ...options['env-file'].map((file) => readEnvFile(resolve(around.cwd, file))),
  ) as Record<string, string>
  if (!isOwnDaemon(context)) {
    if (options['inherit-env'] || options['env-file'].length > 0) throw needsOwnDaemon()
    return NONE
  }
  if (await inheritsAll(context)) {
    const inherited = ownInheritance()
    const env = { ...unbuffered(options), ...inherited.env, ...variables }
    const names = Object.keys(variables)
    const kept = names.length === 0 ? {} : { keepEnv: names }
    return { spec: { inheritEnv: 'whole', ...kept }, request: { inherited: { ...inherited, env } } }
  }
  if (options['env-file'].length === 0) return NONE
  return { spec: { inheritEnv: 'part' }, request: { inherited: { env: variables } } }
}

/** A restart of a command that inherited a shell's environment gets that of this shell. The daemon adds `keepEnv`. */
export function environmentForRestart(
  context: Context<unknown>,
  spec: Readonly<Record<string, unknown>>,
): { readonly inherited?: Inherited } {
  if (spec['inheritEnv'] !== 'whole' || !isOwnDaemon(context)) return {}
  return { inherited: ownInheritance() }
}

const NONE: CallerEnvironment = { spec: {}, request: {} }

/** In the background output appears line by line; in the foreground the program behaves as without Reeve. */
function unbuffered({ detach }: EnvironmentOptions): Record<string, string> {
  return detach ? { PYTHONUNBUFFERED: '1' } : {}
}

/** The daemon of this user on this machine. A token excludes it: the token may be bound to an agent's session. */
function isOwnDaemon({ url, token }: Context<unknown>): boolean {
  return url === undefined && token === undefined
}

async function inheritsAll(context: Context<EnvironmentOptions>): Promise<boolean> {
  const { options, daemon, home } = context
  if (options['no-inherit-env']) return false
  if (options['inherit-env'] || !options.detach) return true
  if ((await daemon.running(home)) === null) await (await context.acting()).whoami({})
  return (await daemon.running(home))?.inheritEnv === true
}

/** The environment, umask and resource limits that a program started by this one would get. */
function ownInheritance(): Inherited {
  const env = Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined)
  return { env: Object.fromEntries(env), umask: process.umask(), rlimits: limitsOfCaller() }
}

/**
 * Node raises its soft limit of open files to the hard limit when it starts, so that limit is read from the program that started
 * this one.
 */
function limitsOfCaller(): ResourceLimits {
  const own = limitsOf('self')
  const { nofile } = own
  const [soft = null] = limitsOf(callerOsPid())['nofile'] ?? nofile ?? []
  if (nofile === undefined || soft === null) return own
  const [, hard] = nofile
  return { ...own, nofile: [hard === null ? soft : Math.min(soft, hard), hard] }
}

/** Under an older Node the launcher starts this program with the same arguments: then the launcher's parent is the caller. */
function callerOsPid(): number | 'self' {
  const args = argumentsOf(process.pid).slice(-process.argv.length + 2)
  const parentArgs = argumentsOf(process.ppid)
  const isLauncher =
    /(^|\/)node[^/]*$/.test(parentArgs[0] ?? '') &&
    parentArgs.some((arg) => /(^|\/)reeve(\.mjs)?$/.test(arg)) &&
    parentArgs.slice(-args.length).join('\0') === args.join('\0')
  return isLauncher ? (whereReadable(() => statOf(process.ppid), null)?.ppid ?? 'self') : process.ppid
}

function argumentsOf(osPid: number): string[] {
  return (whereReadable(() => readProc(`/proc/${osPid}/cmdline`), null) ?? '').split('\0').slice(0, -1)
}

function needsOwnDaemon(): UsageError {
  return new UsageError(
    '--inherit-env and --env-file need the daemon of this machine, without --url and without a token.',
    'Give single variables with -e NAME=value.',
  )
}
