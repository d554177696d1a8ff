import type { Clock } from '../core/clock.ts'
import type { HolderRow, Proof, Served } from '../core/lease/holder.ts'
import type { Ending } from '../core/process/intent.ts'
import type { Pid } from '../core/process/pid.ts'
import type { Backoff } from '../core/recovery/verdict.ts'
import type { Edges } from '../kernel/edges.ts'
import type { Keeping, Lost, Parked, Work } from '../kernel/executor.ts'
import { Kernel } from '../kernel/kernel.ts'
import type { Store } from '../store/contract.ts'
import { simulatedClock } from './simulated-clock.ts'
import { testEdges } from './test-edges.ts'

/** The script of an executed process. Without one it waits for `finish`. */
export type Script = (work: Work, kernel: Kernel) => Promise<Ending | Lost | Parked>

export interface TestKernelOptions {
  /** The id of the kernel as a holder. */
  readonly id: string
  /** The name of the kernel's host. */
  readonly host?: string
  readonly clock?: Clock
  readonly seed?: number
  readonly prove?: (holder: HolderRow) => Proof
  readonly onTrouble?: Edges['onTrouble']
  /** Computes cron expressions. */
  readonly cron?: Edges['cron']
  readonly fileSets?: Edges['fileSets']
  /** The kinds and names that the kernel executes; by default all tools. */
  readonly serves?: readonly Served[]
  readonly script?: Script
  /** The holder of the executed processes, if it is not the kernel itself. */
  readonly keeping?: Keeping
  readonly concurrency?: number
  readonly backoff?: Backoff
  /** How often the kernel sweeps; every 10 s by default. */
  readonly sweepMs?: number
}

/** A kernel that counts its executions, holds each until the test ends it, and can be killed at any moment. */
export interface TestKernel {
  readonly id: string
  readonly kernel: Kernel
  readonly edges: Edges
  /** How often this kernel has started the process. */
  executions(pid: Pid): number
  /** Resolves when the executor has the process; at once if it has it already. */
  begun(pid: Pid): Promise<Work>
  /** Ends an execution without a script. */
  finish(pid: Pid, ending?: Ending | Lost): void
  /** Like `kill -9`: the kernel receives, asks and writes nothing any more. Requests that it has sent may still arrive. */
  crash(): void
}

/** A kernel renews its row when a test says so: a renewal by itself would revive a row that a test has let expire. */
const TIMES = { renewMs: 600_000, ttlMs: 1_800_000, sweepMs: 10_000 }
const BACKOFF = { baseMs: 1_000, maxMs: 60_000 }

/** Starts a kernel over `store`, which stays open when the kernel is closed or crashes. */
export async function testKernel(store: Store, options: TestKernelOptions): Promise<TestKernel> {
  const life = { over: false }
  const begun = new Map<Pid, { count: number; work: Promise<Work>; take: (work: Work) => void }>()
  const held = new Map<Pid, (ending: Ending | Lost) => void>()
  const of = (pid: Pid) => {
    const { promise, resolve } = Promise.withResolvers<Work>()
    const known = begun.get(pid) ?? { count: 0, work: promise, take: resolve }
    begun.set(pid, known)
    return known
  }
  const untilFinished: Script = ({ record, signal }) =>
    new Promise((resolve, reject) => {
      held.set(record.pid, resolve)
      signal.addEventListener('abort', () => reject(signal.reason))
    })
  const script = options.script ?? untilFinished
  const executor = {
    serves: options.serves ?? [{ kind: 'tool', targets: null } as const],
    ...(options.keeping === undefined ? {} : { keeping: options.keeping }),
    run(work: Work, running: Kernel) {
      const known = of(work.record.pid)
      known.count += 1
      const ending = script(work, running)
      known.take(work)
      return ending
    },
  }
  const { onTrouble } = options
  const edges = testEdges(mortal(store, life), {
    ...options,
    clock: mortalClock(options.clock ?? simulatedClock(), life),
    ...(onTrouble === undefined
      ? {}
      : { onTrouble: (error, doing) => (life.over ? undefined : onTrouble(error, doing)) }),
  })
  const identity = (id: string) => ({
    ...holderNamed(id),
    ...(options.host === undefined ? {} : { host: options.host }),
  })
  let successors = 0
  const kernel = new Kernel(edges, {
    successor: () => {
      successors += 1
      return identity(`${options.id}_${successors}`)
    },
    holder: identity(options.id),
    executors: [executor],
    concurrency: options.concurrency ?? 100,
    times: options.sweepMs === undefined ? TIMES : { ...TIMES, sweepMs: options.sweepMs },
    backoff: options.backoff ?? BACKOFF,
  })
  await kernel.start()
  return {
    id: options.id,
    kernel,
    edges,
    executions: (pid) => begun.get(pid)?.count ?? 0,
    begun: (pid) => of(pid).work,
    finish(pid, ending = { status: 'completed' }) {
      const end = held.get(pid)
      if (end === undefined) throw new Error(`${options.id} is not executing ${pid}`)
      end(ending)
    },
    crash() {
      life.over = true
    },
  }
}

export function holderNamed(id: string) {
  return {
    id,
    role: 'kernel',
    host: 'test-host',
    boot: 'test-boot',
    pidNamespace: 'test-namespace',
    osPid: 1,
    startTime: '1',
    incarnation: id,
    serves: [],
  } as const
}

interface Life {
  over: boolean
}

/** A store for a kernel that may die: afterwards no answer arrives, and no question is sent. */
function mortal(store: Store, life: Life): Store {
  const whileAlive = <Answer>(act: () => Promise<Answer>) =>
    new Promise<Answer>((resolve, reject) => {
      if (life.over) return
      act().then(
        (answer) => life.over || resolve(answer),
        (error: unknown) => life.over || reject(error),
      )
    })
  return {
    durability: store.durability,
    ...(store.locks === undefined ? {} : { locks: store.locks }),
    ask: (question) => whileAlive(() => store.ask(question)),
    write: (plan) => whileAlive(() => store.write(plan)),
    blobs: {
      put: (hash, bytes) => whileAlive(() => store.blobs.put(hash, bytes)),
      get: (hash) => whileAlive(() => store.blobs.get(hash)),
      sweep: (ageMs) => whileAlive(() => store.blobs.sweep(ageMs)),
    },
    onCommit: (listener) => store.onCommit((commit) => life.over || listener(commit)),
    close: () => store.close(),
  }
}

function mortalClock(clock: Clock, life: Life): Clock {
  return {
    now: () => clock.now(),
    after: (ms, task) => clock.after(ms, () => life.over || task()),
  }
}
