import { readdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { BoundedMap } from '../../base/bounded-map.ts'
import { RefusedError } from '../../core/errors.ts'
import type { Pid } from '../../core/process/pid.ts'
import { hasEnded, type ProcessRecord } from '../../core/process/record.ts'
import type { ProcessRow } from '../../core/process/row.ts'
import { refusal } from '../../core/refusal.ts'
import type { Kernel } from '../../kernel/kernel.ts'
import { MARKER } from '../../os/program-marks.ts'
import { type Inherited, inherited as shape } from '../../verbs/shapes/inherited.ts'
import { orMissing } from '../output/missing.ts'
import { fileNameOf, type PassedBy, pidIn, writePrivately } from './registration-file.ts'

/** How many commands that have ended keep theirs in memory: they can be restarted. */
const MAX_ENDED = 500

/** A command as far as its environment depends on it. */
type Starter = PassedBy & Pick<ProcessRecord, 'spec'> & { readonly program?: ProcessRecord['program'] }

interface InheritedOptions {
  readonly onTrouble: (error: unknown, doing: string) => void
  /** A command with such an environment has ended: its output is to stay masked when the environment is not known any more. */
  readonly onEnd: (record: ProcessRecord, env: Inherited['env']) => Promise<void>
}

/**
 * Environments, umasks and limits that callers gave their commands (`spec.inheritEnv`). They are retained in memory alone, because
 * a person's environment holds secrets. Only a command with a restart policy has a file, readable by its user alone: the
 * policy must work under the next daemon, too. The file moves on to each successor, and is removed at the last end.
 */
export class InheritedEnvironments {
  readonly #folder: string
  readonly #options: InheritedOptions
  /** By file name, also for processes without a file. */
  readonly #live = new Map<string, Inherited>()
  readonly #ended = new BoundedMap<string, Inherited>(MAX_ENDED)
  /** Ends are handled one after the other. */
  #handled: Promise<void> = Promise.resolve()

  constructor(folder: string, options: InheritedOptions) {
    this.#folder = folder
    this.#options = options
  }

  /** Before the command is registered. On disk, too, if it may be restarted by its policy. */
  async retain(registration: Starter, inherited: Inherited): Promise<void> {
    const name = fileNameOf(registration)
    this.#live.set(name, inherited)
    if (hasRestartPolicy(registration)) await writePrivately(this.#folder, name, JSON.stringify(inherited))
  }

  /** For a registration that was refused, or is a repeat. */
  async drop(registration: PassedBy): Promise<void> {
    this.#live.delete(fileNameOf(registration))
    await rm(this.#file(fileNameOf(registration)), { force: true })
  }

  /** Null if it inherits nothing, or its variables were lost with an earlier daemon. */
  async of(record: Starter): Promise<Inherited | null> {
    if (record.spec['inheritEnv'] === undefined) return null
    return this.#retained(record) ?? (await this.#ofProgram(record))
  }

  /** Throws if the inherited environment was lost: the command must not start in another one. */
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

  /**
   * Before a daemon starts any command: reads the files of commands that live, and removes the others. Of programs that run,
   * the environment is read now: when they end, it is not there any more.
   */
  async sweep(kernel: Kernel): Promise<void> {
    for (const name of (await orMissing(readdir(this.#folder))) ?? []) {
      const row = await kernel.edges.store.ask({ ask: 'process', pid: pidIn(name) })
      const isOwn = row !== null && fileNameOf(row.record) === name
      if (!isOwn) await rm(this.#file(name), { force: true })
      else {
        const inherited = await this.#read(name)
        if (inherited === null) continue
        this.#live.set(name, inherited)
        if (hasEnded(row.record)) await this.#passOn(name, successorOf(row.record.outcome), kernel)
      }
    }
    for await (const record of liveCommands(kernel)) {
      const found = await this.of(record)
      if (found !== null) this.#live.set(fileNameOf(record), found)
    }
  }

  /** Resolves when all ends reported so far are handled. */
  async settled(): Promise<void> {
    await this.#handled
  }

  /** Null for a damaged file, which is removed: its command can no longer be started again. */
  async #read(name: string): Promise<Inherited | null> {
    try {
      return shape.parse(JSON.parse(await readFile(this.#file(name), 'utf8')))
    } catch {
      // The parser's message may contain a part of the file.
      const error = new Error(
        `The environment of ${pidIn(name)} was lost: its file was damaged, and is removed.`,
      )
      this.#options.onTrouble(error, 'reading the environments of commands')
      await rm(this.#file(name), { force: true })
      return null
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
        .catch((error: unknown) => this.#options.onTrouble(error, `forgetting the environment of ${pid}`))
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
    await this.#tellEnd(pidIn(name), inherited, kernel)
  }

  /** A disk that takes no more keeps no daemon from starting. */
  async #tellEnd(pid: Pid, { env }: Inherited, kernel: Kernel): Promise<void> {
    const row = await kernel.edges.store.ask({ ask: 'process', pid })
    if (row === null) return
    await this.#options.onEnd(row.record, env).catch((error: unknown) => {
      this.#options.onTrouble(error, `keeping what ${pid} printed masked`)
    })
  }

  #retained(registration: PassedBy): Inherited | null {
    const name = fileNameOf(registration)
    return this.#live.get(name) ?? this.#ended.get(name) ?? null
  }

  /** A kernel registers a successor just before it writes the end of the predecessor. */
  async #ofPredecessor({ originator, restartOf }: ProcessRecord, kernel: Kernel): Promise<Inherited | null> {
    if (restartOf === null || !originator.startsWith('kernel:')) return null
    const row = await kernel.edges.store.ask({ ask: 'process', pid: restartOf })
    return row === null ? null : this.#retained(row.record)
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

const PAGE = 500

async function* liveCommands({ edges: { store } }: Kernel): AsyncGenerator<ProcessRecord> {
  let after: number | null = null
  do {
    const page: { items: readonly ProcessRow[]; next: number | null } = await store.ask({
      ask: 'processes',
      filter: { kind: ['command'] },
      after,
      limit: PAGE,
    })
    for (const { record } of page.items) if (!hasEnded(record)) yield record
    after = page.next
  } while (after !== null)
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
