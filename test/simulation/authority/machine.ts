import type { ResolvedAction } from '../../../src/core/capability/action.ts'
import type { JsonObject } from '../../../src/core/json/json.ts'
import type { ProcessRecord } from '../../../src/core/process/record.ts'
import { DAEMON_FOLDER } from './policy-folders.ts'

/** What may change of a machine: the variable PATH, a program, and the folder behind a link. */
export const MACHINE_PARTS = ['path', 'program', 'folder'] as const

/** The machine of a host, as its commands find it. It may change between the question and the start. */
export class Machine {
  readonly host: string
  /** Raised when the variable PATH, a program, or the folder behind a link changes. */
  path = 1
  program = 1
  folder = 1

  constructor(host: string) {
    this.host = host
  }

  /** What a command would do here, now. */
  resolve(record: Pick<ProcessRecord, 'spec' | 'effectiveSpec' | 'cwd'>): ResolvedAction {
    const { run, env } = record.effectiveSpec ?? record.spec
    const [program = '', ...args] = argvOf(record) ?? String(run).split(' ')
    const variables = (env ?? {}) as JsonObject
    return {
      shell: { type: 'commands', commands: [{ program, args, env: [] }], writes: [] },
      programs: [{ name: program, real: `/bin/${program}`, identity: String(this.program) }],
      cwd: `${record.cwd ?? DAEMON_FOLDER}#${this.folder}`,
      variables: Object.fromEntries(
        Object.entries({ PATH: this.path, ...variables }).map(([name, value]) => [name, String(value)]),
      ),
      environmentHash: `${this.path} ${JSON.stringify(variables)}`,
      env: Object.keys(variables),
      codeVariables: [],
    }
  }
}

export function argvOf({
  spec,
  effectiveSpec,
}: Pick<ProcessRecord, 'spec' | 'effectiveSpec'>): readonly string[] | undefined {
  const { argv } = effectiveSpec ?? spec
  return Array.isArray(argv) ? argv.map(String) : undefined
}
