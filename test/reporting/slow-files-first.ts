import { relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Files that take more than 20 s on two busy cores, the slowest first. */
export const SLOW_FILES = [
  'test/mcp/clients/matrix.proc.ts',
  'test/store/postgres/conformance.test.ts',
  'test/cli/subcommands.proc.ts',
  'test/soak/soak.proc.ts',
  'test/examples/readme.proc.ts',
  'test/examples/console.proc.ts',
  'test/mcp/inspector.proc.ts',
  'test/examples/examples.proc.ts',
  'test/mcp/elicitation.proc.ts',
  'test/cli/top/top.proc.ts',
  'test/crash/workflow.proc.ts',
  'test/keeper/take-over.proc.ts',
  'test/worker/away.proc.ts',
  'test/external/strangers.proc.ts',
  'test/crash/commands-daemon.proc.ts',
  'test/cli/inherit-env.proc.ts',
  'test/store/sqlite/conformance.test.ts',
  'test/command/races.proc.ts',
  'test/package/installed.proc.ts',
  'test/crash/kill.proc.ts',
]

/**
 * Starts slow files first, so that none runs alone at the end of a run. Vitest itself knows the slow ones only from an earlier
 * run; in a fresh clone it would start with the longest texts.
 */
export class SlowFilesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const at = SLOW_FILES.indexOf(relative(this.ctx.config.root, moduleId))
      return at === -1 ? SLOW_FILES.length : at
    }
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b))
  }
}
