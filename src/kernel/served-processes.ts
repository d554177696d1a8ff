import type { JsonObject } from '../core/json/json.ts'
import { isServed, type Served } from '../core/lease/holder.ts'
import { isPlacedAt, type Placement } from '../core/placement/placement.ts'
import { type Kind, type ProcessRecord, type Registration, targetOf } from '../core/process/record.ts'
import { processToolOf, SCRIPT } from '../core/tool/built-in-name.ts'
import type { Executor, Keeping } from './executor.ts'

/** Which processes one holder executes, and with which executor. */
export class ServedProcesses {
  readonly #executors: readonly Executor[]
  /** Where this kernel is. */
  readonly here: readonly Placement[]

  constructor(executors: readonly Executor[], here: readonly Placement[]) {
    this.#executors = executors
    this.here = here
  }

  /** Set if a keeper holds the processes. Such a holder has exactly one executor. */
  get keeping(): Keeping | undefined {
    return this.#executors[0]?.keeping
  }

  get isEmpty(): boolean {
    return this.#executors.length === 0
  }

  /** Read each time: an executor may serve more later. */
  get serves(): readonly Served[] {
    return this.#executors.flatMap((executor) => executor.serves)
  }

  /** Whether it runs processes that leave memory while they wait: workflows and scripts. Agents are begun by their turns. */
  get hasParked(): boolean {
    return this.serves.some(({ kind, targets }) => kind === 'workflow' || isScriptServed(kind, targets))
  }

  executorOf(kind: Kind, spec: JsonObject): Executor | undefined {
    const target = targetOf(kind, spec)
    return this.#executors.find((executor) => isServed(executor.serves, kind, target))
  }

  /** The executor of a process that this holder has begun. A keeper that accepts no new process still runs its old ones. */
  runnerOf({ kind, spec }: ProcessRecord): Executor | undefined {
    return this.keeping === undefined ? this.executorOf(kind, spec) : this.#executors[0]
  }

  wouldRun({ kind, spec, placement }: Registration): boolean {
    return isPlacedAt(placement ?? null, this.here) && this.executorOf(kind, spec) !== undefined
  }

  /** Nothing new is begun, and work that is under way gets a moment to finish. */
  async drain(): Promise<void> {
    await Promise.all(this.#executors.map((executor) => executor.drain?.()))
  }
}

function isScriptServed(kind: Kind, targets: readonly string[] | null): boolean {
  return kind === 'tool' && targets?.includes(processToolOf(SCRIPT)) === true
}
