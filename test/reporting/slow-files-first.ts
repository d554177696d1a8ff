import { relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * Files that take more than 20 s on two busy cores, the slowest first. Those of the project `unit` start when the programs of all
 * others have: their threads are shared, and are not started twice.
 */
export const SLOW_FILES = [
  'test/mcp/clients/matrix.proc.ts',
  'test/agent/outside/real-agents.proc.ts',
  'test/soak/soak.proc.ts',
  'test/cli/subcommands.proc.ts',
  'test/mcp/elicitation.proc.ts',
  'test/agent/killed/kill-matrix.proc.ts',
  'test/cli/top/top.proc.ts',
  'test/examples/console.proc.ts',
  'test/cli/policy.proc.ts',
  'test/daemon/audit.proc.ts',
  'test/mcp/tasks.proc.ts',
  'test/cli/agent/agent.proc.ts',
  'test/external/strangers.proc.ts',
  'test/examples/readme.proc.ts',
  'test/package/installed.proc.ts',
  'test/command/allowances.proc.ts',
  'test/keeper/ending.proc.ts',
  'test/crash/full-disk-daemon.proc.ts',
  'test/command/stops.proc.ts',
  'test/agent/mcp/kept-servers.proc.ts',
  'test/keeper/disk.proc.ts',
  'test/command/retained.proc.ts',
  'test/keeper/take-over.proc.ts',
  'test/crash/kill.proc.ts',
  'test/agent/outside/killed.proc.ts',
  'test/worker/away.proc.ts',
  'test/crash/messages.proc.ts',
  'test/store/postgres/conformance.test.ts',
  'test/simulation/agents/agents.test.ts',
  'test/store/sqlite/conformance.test.ts',
  'test/simulation/authority/authority.test.ts',
  'test/simulation/planted-bugs.test.ts',
  'test/simulation/simulation.test.ts',
  'test/workflow/waits.test.ts',
  'test/store/postgres/outages.test.ts',
]

/**
 * Starts slow files first, so that none runs alone at the end of a run. Vitest itself knows the slow ones only from an earlier
 * run; in a fresh clone it would start with the longest texts.
 */
export class SlowFilesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isUnit = ({ project }: TestSpecification) => (project.name === 'unit' ? 1 : 0)
    const rank = ({ moduleId }: TestSpecification) => {
      const at = SLOW_FILES.indexOf(relative(this.ctx.config.root, moduleId))
      return at === -1 ? SLOW_FILES.length : at
    }
    return (await super.sort(files)).sort((a, b) => isUnit(a) - isUnit(b) || rank(a) - rank(b))
  }
}
