import { RefusedError } from '../core/errors.ts'
import type { ProcessRecord } from '../core/process/record.ts'
import { refusal } from '../core/refusal.ts'
import type { WorkflowFunction, WorkflowOptions } from '../verbs/workflow-function.ts'
import { GRACE_MS } from './run.ts'

export interface ServedFunction {
  readonly run: WorkflowFunction
  readonly options: WorkflowOptions
}

/** The workflow functions that this program serves, by name. */
export class ServedFunctions {
  readonly #functions = new Map<string, ServedFunction>()

  get names(): readonly string[] {
    return [...this.#functions.keys()]
  }

  add(name: string, served: ServedFunction): void {
    if (this.#functions.has(name)) {
      throw new RefusedError(
        refusal(
          'conflict',
          `The workflow ${name} is served here already.`,
          'Give each function a name of its own.',
        ),
      )
    }
    this.#functions.set(name, served)
  }

  remove(name: string): void {
    this.#functions.delete(name)
  }

  /** The function that runs this process; undefined if it is not served here. */
  functionOf({ spec }: ProcessRecord): ServedFunction | undefined {
    return this.#functions.get(String(spec['workflow']))
  }

  /** How long a stopped attempt of this process may take to end. */
  graceMs(record: ProcessRecord): number {
    return this.functionOf(record)?.options.graceMs ?? GRACE_MS
  }
}
