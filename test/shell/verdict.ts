import type { ShellAnalysis } from '../../src/shell/analysis.ts'
import { argsForRules } from '../../src/shell/subcommand.ts'

/** How a rule on `git push` sees a line. */
export function verdictOn(analysis: ShellAnalysis): 'push' | 'unknown' | 'opaque' | 'harmless' {
  const git = analysis.commands
    .filter(({ program }) => program.split('/').at(-1)!.toLowerCase() === 'git')
    .map(({ program, args }) => argsForRules(program, args))
  if (git.some(({ args }) => args[0] === 'push')) return 'push'
  if (analysis.type === 'opaque' || analysis.commands.some(({ opaque }) => opaque !== undefined))
    return 'opaque'
  return git.some(({ unknownOption }) => unknownOption) ? 'unknown' : 'harmless'
}
