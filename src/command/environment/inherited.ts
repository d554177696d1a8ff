import { readdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { RefusedError } from '../../core/errors.ts'
import type { Pid } from '../../core/process/pid.ts'
import { hasEnded, type ProcessRecord } from '../../core/process/record.ts'
import { refusal } from '../../core/refusal.ts'
import { MARKER } from '../../keeper/protocol/home.ts'
import type { Kernel } from '../../kernel/kernel.ts'
import type { Inherited } from '../../verbs/shapes/inherited.ts'
import { orMissing } from '../output/missing.ts'
import { fileNameOf, type PassedBy, pidIn, writePrivately } from './registration-file.ts'

/** How many commands that have ended keep theirs in memory: their output stays masked, and they can be restarted. */
const MAX_ENDED = 500

/** A command as far as its environment depends on it. */
type Starter = PassedBy & Pick<ProcessRecord, 'spec'> & { readonly program?: ProcessRecord['program'] }

/**
 * Environments, umasks and limits that callers gave their commands (`spec.inheritEnv`). They are held in memory alone, because
 * a person's environment holds secrets. Only a command with a restart policy has a file, readable by its user alone: the
 * policy must work under the next daemon, too. The file moves on to each successor, and is removed at the last end.
 */
export class InheritedEnvironments {
  readonly #folder: string
  readonly #onTrouble: (error: unknown, doing: string) => void
  /** By file name, also of those that have no file. */
  readonly #live = new Map<string, Inherited>()
  readonly #ended = new Map<string, Inherited>()
  /** Ends are handled one after the other. */
  #handled: Promise<void> = Promise.resolve()

  constructor(folder: string, onTrouble: (error: unknown, doing: string) => void) {
    this.#folder = folder
    this.#onTrouble = onTrouble
  }

  /** Before the command is registered. On disk, too, if it may be restarted by its policy. */
  async keep(registration: Starter, inherited: Inherited): Promise<void> {
    const name = fileNameOf(registration)
    this.#live.set(name, inherited)
    if (hasRestartPolicy(registration)) await writePrivately(this.#folder, name, JSON.stringify(inherited))
  }

  /** For a registration that was refused, or is a repeat. */
  async drop(registration: PassedBy): Promise<void> {
    this.#live.delete(fileNameOf(registration))
    await rm(this.#file(fileNameOf(registration)), { force: true })
  }

  /** Null if it inherits nothing, or what it inherited was lost with an earlier daemon. */
  async of(record: Starter): Promise<Inherited | null> {
    if (record.spec['inheritEnv'] === undefined) return null
    return this.#held(record) ?? (await this.#ofProgram(record))
  }

  /** Throws if what the command inherits was lost: it must not start in another environment. */
  async ofStarting(record: ProcessRecord, kernel: Kernel): Promise<Inherited | null> {
    if (record.spec['inheritEnv'] === undefined) return null
    const found = (await this.of(record)) ?? (await this.#ofPredecessor(record, kernel))
    if (found !== null) return found
    throw new RefusedError(
      refusal(
        'environment_unknown',
        'The environment that its caller gave it was lost when the daemon stopped: it is not stored.',
        'Start the command again.',
      ),
    )
  }

  /** Before a daemon starts any command: reads the files of commands that live, and removes the others. */
  async sweep(kernel: Kernel): Promise<void> {
    for (const name of (await orMissing(readdir(this.#folder))) ?? []) {
      const row = await kernel.edges.store.ask({ ask: 'process', pid: pidIn(name) })
      const isOwn = row !== null && fileNameOf(row.record) === name
      if (!isOwn) await rm(this.#file(name), { force: true })
      else {
        this.#live.set(name, JSON.parse(await readFile(this.#file(name), 'utf8')) as Inherited)
        if (hasEnded(row.record)) await this.#passOn(name, successorOf(row.record.outcome), kernel)
      }
    }
  }

  /** Follows the ends of commands until the kernel closes. */
  serve(kernel: Kernel): void {
    kernel.feed.onAll((events) => {
      if (this.#live.size === 0) return
      for (const event of events) if (event.type === 'ended') this.#heardEnd(event.pid, event.payload, kernel)
    })
  }

  #heardEnd(pid: Pid, outcome: unknown, kernel: Kernel): void {
    for (const name of [...this.#live.keys()].filter((one) => pidIn(one) === pid))
      this.#handled = this.#handled
        .then(() => this.#passOn(name, successorOf(outcome), kernel))
        .catch((error: unknown) => this.#onTrouble(error, `forgetting the environment of ${pid}`))
  }

  /** The successor gets it with the file. Where there is none, or it has ended as well, the file is removed. */
  async #passOn(name: string, successor: Pid | null, kernel: Kernel): Promise<void> {
    const inherited = this.#live.get(name)
    if (inherited === undefined) return
    const row = successor === null ? null : await kernel.edges.store.ask({ ask: 'process', pid: successor })
    if (row === null || hasEnded(row.record)) await rm(this.#file(name), { force: true })
    else {
      const next = fileNameOf(row.record)
      this.#live.set(next, inherited)
      await orMissing(rename(this.#file(name), this.#file(next)))
    }
    this.#live.delete(name)
    this.#ended.set(name, inherited)
    const [oldest] = this.#ended.keys()
    if (this.#ended.size > MAX_ENDED && oldest !== undefined) this.#ended.delete(oldest)
  }

  #held(registration: PassedBy): Inherited | null {
    const name = fileNameOf(registration)
    return this.#live.get(name) ?? this.#ended.get(name) ?? null
  }

  /** A kernel registers a successor just before it writes the end of the predecessor. */
  async #ofPredecessor({ originator, restartOf }: ProcessRecord, kernel: Kernel): Promise<Inherited | null> {
    if (restartOf === null || !originator.startsWith('kernel:')) return null
    const row = await kernel.edges.store.ask({ ask: 'process', pid: restartOf })
    return row === null ? null : this.#held(row.record)
  }

  /** The system keeps the environment of a program while it runs: a later daemon reads it there. */
  async #ofProgram({ pid, program = null }: Starter): Promise<Inherited | null> {
    if (program === null) return null
    const text = await readFile(`/proc/${program.osPid}/environ`, 'utf8').catch(() => '')
    const env = text.split('\0').flatMap((pair): [string, string][] => {
      const equals = pair.indexOf('=')
      return equals < 1 ? [] : [[pair.slice(0, equals), pair.slice(equals + 1)]]
    })
    const { [MARKER]: marker, ...variables } = Object.fromEntries(env)
    // Another program may have the PID by now.
    return marker?.startsWith(`${pid}@`) === true ? { env: variables } : null
  }

  #file(name: string): string {
    return join(this.#folder, name)
  }
}

function hasRestartPolicy({ spec }: Pick<ProcessRecord, 'spec'>): boolean {
  const { on = 'never' } = Object(spec['restart']) as { readonly on?: string }
  return on !== 'never'
}

/** The process that the restart policy registered before the end was written. */
function successorOf(outcome: unknown): Pid | null {
  const { pid } = Object(Object(Object(outcome).result).restart) as { readonly pid?: unknown }
  return typeof pid === 'string' ? pid : null
}
