import { createHash } from 'node:crypto'
import { realpath, stat } from 'node:fs/promises'
import { delimiter, join, resolve } from 'node:path'
import type { ActionProgram, ResolvedAction } from '../core/capability/action.ts'
import type { AnalysedShell } from '../core/capability/needs.ts'
import type { Environment } from '../core/environment/environment.ts'
import { canonical } from '../core/json/canonical.ts'
import type { ProcessRecord } from '../core/process/record.ts'
import type { SpawnPlan } from '../keeper/protocol/spawn-plan.ts'
import { isExecutable } from '../os/file-access.ts'
import type { ShellAnalysis } from '../shell/analysis.ts'
import { loadShellAnalysis } from '../shell/load.ts'
import { argsForRules } from '../shell/subcommand.ts'
import { variableRunsPrograms } from '../shell/variables.ts'
import { commandSpecOf } from './command-spec.ts'

/** What a command would do on this host: its commands, the files of their programs, its folder and all its variables. */
export async function resolveAction(
  record: ProcessRecord,
  plan: SpawnPlan,
  { shell, environment = null }: { readonly shell: string; readonly environment?: Environment | null },
): Promise<ResolvedAction> {
  const { argv, run, env = {} } = commandSpecOf(record)
  const { analyseArgv, analyseShell } = await loadShellAnalysis()
  const analysis = argv === undefined ? analyseShell(run ?? '', shell) : analyseArgv(argv)
  const names = [...new Set(analysis.commands.map(({ program }) => program))]
  const cwd = await realpath(plan.cwd).catch(() => plan.cwd)
  return {
    shell: forRules(analysis),
    programs: await Promise.all(names.map((name) => programOf(name, plan, cwd))),
    cwd,
    environmentHash: createHash('sha256').update(canonical(plan.env)).digest('hex'),
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

/** The commands of a line for the shell, as rules compare them. */
export async function analyseCommandLine(line: string): Promise<AnalysedShell> {
  const { analyseShell } = await loadShellAnalysis()
  return forRules(analyseShell(line))
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
