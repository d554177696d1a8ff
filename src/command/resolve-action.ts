import { createHash } from 'node:crypto'
import { realpath, stat } from 'node:fs/promises'
import { delimiter, isAbsolute, join, resolve } from 'node:path'
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
  /** The variables that every command of this host starts with. */
  readonly base: Variables
  /** The stored environment that it runs in. */
  readonly environment?: Environment | null
}

/** What a command would do on this host: its commands, the files of their programs, its folder and all its variables. */
export async function resolveAction(
  record: ProcessRecord,
  plan: SpawnPlan,
  { shell, base, environment = null }: ResolvedBy,
): Promise<ResolvedAction> {
  const { env = {} } = commandSpecOf(record)
  const analysis = await analyse(record, shell)
  const names = [...new Set(analysis.commands.map(({ program }) => program))]
  const cwd = await realpath(plan.cwd).catch(() => plan.cwd)
  const path = plan.env['PATH'] ?? ''
  const programs = await Promise.all(names.map((name) => programOf(name, path, cwd)))
  const searched = await searchedBy(path, base['PATH'] ?? '', programs, cwd)
  const known = { effective: plan.env, base, searched }
  return {
    shell: forRules(analysis),
    programs,
    cwd,
    environmentHash: createHash('sha256').update(canonical(plan.env)).digest('hex'),
    variables: shownVariables(plan.env, env),
    ...namesIn(env, known),
    ofEnvironment: namesIn(environment?.variables ?? {}, known),
  }
}

/**
 * What the text of a command tells, for one that cannot be started here now, because its folder or a secret is missing. It fails when
 * it begins, as it does without rules; if it could begin by then, its action is another one, and is asked about.
 */
export async function analyseUnstartable(
  record: ProcessRecord,
  { shell, base, environment = null }: ResolvedBy,
): Promise<ResolvedAction> {
  const { env = {} } = commandSpecOf(record)
  const analysis = await analyse(record, shell)
  const names = [...new Set(analysis.commands.map(({ program }) => program))]
  const known = { effective: env, base, searched: 'unknown' } as const
  return {
    shell: forRules(analysis),
    programs: names.map((name) => ({ name, real: null, identity: null })),
    cwd: record.cwd,
    environmentHash: '',
    variables: env,
    ...namesIn(env, known),
    ofEnvironment: namesIn(environment?.variables ?? {}, known),
  }
}

interface KnownVariables {
  /** The values that the command gets, as far as they are known. */
  readonly effective: Variables
  readonly base: Variables
  readonly searched: Searched
}

/** A variable that has the value which every command starts with changes nothing. The value of a secret is not known here. */
function namesIn(
  variables: Environment['variables'],
  { effective, base, searched }: KnownVariables,
): VariableNames {
  const changing = Object.entries(variables).flatMap(([name, given]) => {
    const value = effective[name] ?? (typeof given === 'string' ? given : null)
    const isOther = value === null || value !== base[name]
    return isOther && variableRunsPrograms(name, value) ? [name] : []
  })
  const codeVariables = changing.filter((name) => name !== 'PATH' || searched === 'unknown')
  const isWider = changing.includes('PATH') && searched === 'wider'
  return { env: Object.keys(variables), codeVariables, ...(isWider ? { widerPath: true } : {}) }
}

type VariableNames = Pick<ResolvedAction, 'env' | 'codeVariables' | 'widerPath'>

/**
 * What a `PATH` finds besides that of every command. `same`: the same files, in the same folders. `wider`: the same files for all
 * programs that the text names, but those may start others from further folders.
 */
type Searched = 'same' | 'wider' | 'unknown'

async function searchedBy(
  path: string,
  base: string,
  programs: readonly ActionProgram[],
  cwd: string,
): Promise<Searched> {
  if (path === base) return 'same'
  const ofBase = await Promise.all(programs.map(({ name }) => programOf(name, base, cwd)))
  if (programs.some(({ real }, index) => real !== ofBase[index]?.real)) return 'unknown'
  const folders = base.split(delimiter)
  return path.split(delimiter).every((folder) => isAbsolute(folder) && folders.includes(folder))
    ? 'same'
    : 'wider'
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
async function programOf(name: string, searched: string, cwd: string): Promise<ActionProgram> {
  for (const path of pathsOf(name, searched, cwd)) {
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
