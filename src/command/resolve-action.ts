import { createHash } from 'node:crypto'
import { realpath, stat } from 'node:fs/promises'
import { delimiter, join, resolve } from 'node:path'
import type { ActionProgram, ResolvedAction } from '../core/capability/action.ts'
import type { NeedsOfCommandLine } from '../core/capability/examples.ts'
import { type AnalysedShell, needsOf } from '../core/capability/needs.ts'
import type { Environment } from '../core/environment/environment.ts'
import type { Variables } from '../core/environment/secrets.ts'
import { canonical } from '../core/json/canonical.ts'
import type { ProcessRecord } from '../core/process/record.ts'
import type { SpawnPlan } from '../keeper/protocol/spawn-plan.ts'
import { isExecutable } from '../os/file-access.ts'
import type { ShellAnalysis } from '../shell/analysis.ts'
import { loadShellAnalysis } from '../shell/load.ts'
import { argsForRules } from '../shell/subcommand.ts'
import { variableRunsPrograms } from '../shell/variables.ts'
import { commandSpecOf } from './command-spec.ts'

interface ResolvedBy {
  readonly shell: string
  /** The stored environment that it runs in. */
  readonly environment?: Environment | null
}

/** What a command would do on this host: its commands, the files of their programs, its folder and all its variables. */
export async function resolveAction(
  record: ProcessRecord,
  plan: SpawnPlan,
  { shell, environment = null }: ResolvedBy,
): Promise<ResolvedAction> {
  const { env = {} } = commandSpecOf(record)
  const analysis = await analyse(record, shell)
  const names = [...new Set(analysis.commands.map(({ program }) => program))]
  const cwd = await realpath(plan.cwd).catch(() => plan.cwd)
  return {
    shell: forRules(analysis),
    programs: await Promise.all(names.map((name) => programOf(name, plan, cwd))),
    cwd,
    environmentHash: createHash('sha256').update(canonical(plan.env)).digest('hex'),
    variables: shownVariables(plan.env, env),
    ...namesIn(env),
    ofEnvironment: namesIn(environment?.variables ?? {}),
  }
}

/**
 * What the text of a command tells, for one that cannot be started here now, because its folder or a secret is missing. It fails when
 * it begins, as it does without rules; if it could begin by then, its action is another one, and is asked about.
 */
export async function analyseUnstartable(
  record: ProcessRecord,
  { shell, environment = null }: ResolvedBy,
): Promise<ResolvedAction> {
  const { env = {} } = commandSpecOf(record)
  const analysis = await analyse(record, shell)
  const names = [...new Set(analysis.commands.map(({ program }) => program))]
  return {
    shell: forRules(analysis),
    programs: names.map((name) => ({ name, real: null, identity: null })),
    cwd: record.cwd,
    environmentHash: '',
    variables: env,
    ...namesIn(env),
    ofEnvironment: namesIn(environment?.variables ?? {}),
  }
}

/** The value of a secret is not known here. */
function namesIn(variables: Environment['variables']): Pick<ResolvedAction, 'env' | 'codeVariables'> {
  const codeVariables = Object.entries(variables).flatMap(([name, value]) =>
    variableRunsPrograms(name, typeof value === 'string' ? value : null) ? [name] : [],
  )
  return { env: Object.keys(variables), codeVariables }
}

/** Of the variables that a command gets from elsewhere, a person sees those that change which code runs. */
const SHOWN = /^(PATH|LD_.*|.*_PRELOAD|NODE_OPTIONS|BASH_ENV|GIT_.*|PAGER|EDITOR)$/

function shownVariables(effective: Variables, set: Variables): Variables {
  const shown = Object.entries(effective).filter(([name]) => SHOWN.test(name) || Object.hasOwn(set, name))
  return Object.fromEntries(shown.sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** The commands of a process: its own, and the one that finds out whether it is ready, which runs beside it. */
async function analyse(record: ProcessRecord, shell: string): Promise<ShellAnalysis> {
  const { argv, run, ready } = commandSpecOf(record)
  const { analyseArgv, analyseShell } = await loadShellAnalysis()
  const own = argv === undefined ? analyseShell(run ?? '', shell) : analyseArgv(argv)
  if (ready === undefined || !('command' in ready)) return own
  const check = analyseShell(ready.command, shell)
  const commands = [...own.commands, ...check.commands]
  const writes = [...own.writes, ...check.writes]
  const opaque = [own, check].find((one) => one.type === 'opaque')
  return opaque === undefined ? { type: 'commands', commands, writes } : { ...opaque, commands, writes }
}

/** Gives the needs of a line for the shell, as far as its text tells. */
export async function commandLineNeeds(): Promise<NeedsOfCommandLine> {
  const { analyseShell } = await loadShellAnalysis()
  const facts = { programs: new Map(), cwd: null, workspace: null, env: [], codeVariables: [], secrets: [] }
  return (line) =>
    needsOf({ kind: 'command', spec: { run: line } }, { ...facts, shell: forRules(analyseShell(line)) })
}

function forRules(analysis: ShellAnalysis): AnalysedShell {
  const commands = analysis.commands.map(({ args, ...command }) => ({
    ...command,
    ...argsForRules(command.program, args),
  }))
  return { ...analysis, commands }
}

/** The file that the host would start for a name, after symbolic links, and what tells its content from another one. */
async function programOf(name: string, plan: SpawnPlan, cwd: string): Promise<ActionProgram> {
  for (const path of pathsOf(name, plan.env['PATH'] ?? '', cwd)) {
    if (!isExecutable(path)) continue
    const real = await realpath(path)
    const { dev, ino, size, mtimeMs } = await stat(real)
    return { name, real, identity: [dev, ino, size, mtimeMs].join(':') }
  }
  return { name, real: null, identity: null }
}

function pathsOf(name: string, path: string, cwd: string): readonly string[] {
  if (name.includes('/')) return [resolve(cwd, name)]
  return path.split(delimiter).map((folder) => join(resolve(cwd, folder), name))
}
