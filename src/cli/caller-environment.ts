import { resolve } from 'node:path'
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
    const inherited = await context.daemon.inherited()
    const env = { ...unbuffered(options), ...inherited.env, ...variables }
    const names = Object.keys(variables)
    const kept = names.length === 0 ? {} : { keepEnv: names }
    return { spec: { inheritEnv: 'whole', ...kept }, request: { inherited: { ...inherited, env } } }
  }
  if (options['env-file'].length === 0) return NONE
  return { spec: { inheritEnv: 'part' }, request: { inherited: { env: variables } } }
}

/** A restart of a command that inherited a shell's environment gets that of this shell. The daemon adds `keepEnv`. */
export async function environmentForRestart(
  context: Context<unknown>,
  spec: Readonly<Record<string, unknown>>,
): Promise<{ readonly inherited?: Inherited }> {
  if (spec['inheritEnv'] !== 'whole' || !isOwnDaemon(context)) return {}
  return { inherited: await context.daemon.inherited() }
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

function needsOwnDaemon(): UsageError {
  return new UsageError(
    '--inherit-env and --env-file need the daemon of this machine, without --url and without a token.',
    'Give single variables with -e NAME=value.',
  )
}
