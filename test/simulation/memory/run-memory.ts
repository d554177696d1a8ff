import { createHash } from 'node:crypto'
import { RefusedError, StoreError } from '../../../src/core/errors.ts'
import { OBJECT_RIGHTS, type ObjectRight } from '../../../src/core/object/object.ts'
import { type Pid, pidFrom } from '../../../src/core/process/pid.ts'
import { isRefusal } from '../../../src/core/refusal.ts'
import { Objects } from '../../../src/kernel/objects.ts'
import { perform } from '../../../src/kernel/perform.ts'
import { register } from '../../../src/kernel/register.ts'
import type { Store } from '../../../src/store/contract.ts'
import { assertSound } from '../../../src/testing/conformance/sound.ts'
import { testEdges } from '../../../src/testing/test-edges.ts'
import { Random } from '../random.ts'
import { Reference } from './reference.ts'

export interface MemoryWorld {
  /** Opens the data, as the program that is started after a crash does. */
  open(): Promise<Store>
  remove(): Promise<void>
}

export interface MemoryReport {
  readonly seed: number
  readonly steps: number
  readonly crashes: number
  readonly violations: readonly string[]
  readonly trace: readonly string[]
}

const NAMES = ['a', 'a/b', 'b', 'plan', 'result'] as const
const FIRST = pidFrom(new Uint8Array(12))
/** A commit before whose answer the program died: it happened, or it did not. */
const CRASHED = 'the program died'

/**
 * Random acts on objects over one store, with crashes before and after commits. Each answer and every view is compared with those of a
 * reference that copies the view of the parent for each fork.
 */
export async function runMemory(seed: number, world: MemoryWorld, steps = 60): Promise<MemoryReport> {
  const run = new MemoryRun(seed, world)
  try {
    await run.begin()
    for (let step = 0; step < steps && run.violations.length === 0; step++) await run.step()
    if (run.violations.length === 0) await run.rest()
  } catch (error) {
    run.violations.push(
      `it threw: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
    )
  } finally {
    await run.end()
  }
  const { violations, trace, crashes } = run
  return { seed, steps, crashes, violations, trace }
}

/** A view that is too deep, or an ancestor that has ended. */
const REFUSED = ['limit_exceeded', 'already_ended']

class MemoryRun {
  readonly violations: string[] = []
  readonly trace: string[] = []
  crashes = 0
  readonly #random: Random
  readonly #world: MemoryWorld
  readonly #seed: number
  readonly #reference = new Reference()
  readonly #handles: string[] = []
  /** Live handles show later writes, also through a fork; a world has either these or forks. */
  readonly #hasForks: boolean
  #store: Store | undefined
  /** The root is the first. */
  #registered = 1

  constructor(seed: number, world: MemoryWorld) {
    this.#seed = seed
    this.#random = new Random(seed)
    this.#world = world
    this.#hasForks = seed % 3 !== 0
  }

  async begin(): Promise<void> {
    this.#store = await this.#world.open()
    while (this.#reference.holders.size === 0) await this.#register(null)
  }

  async end(): Promise<void> {
    await this.#store?.close()
    await this.#world.remove()
  }

  async rest(): Promise<void> {
    await this.#compareAll()
    await assertSound(this.#open)
  }

  async step(): Promise<void> {
    const random = this.#random
    const before = await this.#revisions()
    const touched = await random.weighted(this.#acts, ([weight]) => weight)[1]()
    const after = await this.#revisions()
    for (const [pid, revision] of after)
      if (before.has(pid) && before.get(pid) !== revision && !touched.includes(pid))
        this.violations.push(`${pid} changed, and the act was about ${touched.join(', ')}`)
    if (random.chance(0.25)) await this.#compareAll()
  }

  readonly #acts: readonly (readonly [number, () => Promise<readonly Pid[]>])[] = [
    [8, () => this.#put()],
    [2, () => this.#register(this.#any())],
    [3, () => this.#link()],
    [1, () => this.#revoke()],
    [2, () => this.#release()],
    [1, () => this.#endOne()],
    [2, () => this.#merge()],
    [1, () => this.#restart()],
  ]

  async #put(): Promise<readonly Pid[]> {
    const random = this.#random
    const [pid, name] = [this.#any(), random.pick(NAMES)]
    const version = this.#reference.shown(pid).get(name)?.cell.version
    const expect = random.chance(0.75) ? version : random.chance(0.5) ? random.between(0, 3) : undefined
    const text = `text ${random.between(0, 5)}`
    const mutable = random.chance(0.8)
    const content = new TextEncoder().encode(text)
    const asked = {
      ...{ name, mutable, content, bytes: content.length, mediaType: 'text/plain' },
      hash: createHash('sha256').update(content).digest('hex'),
      type: 'evidence' as const,
      ...(expect === undefined ? {} : { expect }),
    }
    const owner = this.#reference.shown(pid).get(name)?.cell.oid.split('/')[0] ?? pid
    await this.#act(
      `put ${pid} ${name} ${text} ${expect}`,
      pid,
      () => this.#reference.put(pid, name, text, mutable, expect),
      async (objects) => ((await objects.put('host', pid, asked)).type === 'kept' ? 'kept' : null),
    )
    return [pid, owner]
  }

  async #register(of: Pid | null): Promise<readonly Pid[]> {
    const random = this.#random
    const number = of === null ? 0 : this.#registered++
    const bytes = new Uint8Array(12)
    bytes[11] = number & 31
    bytes[10] = number >> 5
    const pid = pidFrom(bytes)
    const holders = [...this.#reference.holders.values()]
    const live = holders.filter(({ isLive }) => isLive).map((one) => one.pid)
    if (of !== null && live.length === 0) return []
    const isLive = of !== null && live.includes(of)
    const parent = of === null ? null : isLive ? of : random.pick(live)
    const isFork = of !== null && this.#hasForks && random.chance(0.8)
    const mode = random.pick(['copy_on_write', 'read_only', 'ephemeral'] as const)
    const request = {
      kind: 'external' as const,
      spec: { description: 'x' },
      lifetime: 'detached' as const,
      ...(parent === null ? {} : { parent }),
      ...(isFork ? { view: { mode, of } } : {}),
    }
    this.trace.push(`register ${pid} below ${parent} ${isFork ? `${mode} of ${of}` : ''}`)
    const edges = testEdges(this.#faulty(), { seed: this.#seed })
    let code: string | null = null
    try {
      const answer = await register(edges, [{ request, pid, actor: 'host' }], 'no-environment')
      if (isRefusal(answer)) code = answer.code
    } catch (error) {
      if (!isCrash(error)) throw error
      await this.#reopen()
    }
    const row = await this.#open.ask({ ask: 'process', pid })
    if (row !== null)
      this.#reference.register(pid, parent, isFork ? { of, isReadOnly: mode === 'read_only' } : null)
    else if (code !== null && !REFUSED.includes(code)) this.violations.push(`register was refused: ${code}`)
    return parent === null ? [pid] : [pid, parent]
  }

  async #link(): Promise<readonly Pid[]> {
    const random = this.#random
    const [pid, to, name] = [this.#any(), this.#any(), random.pick(NAMES)]
    const rights = OBJECT_RIGHTS.filter(() => random.chance(0.7)) as ObjectRight[]
    const live = !this.#hasForks && random.chance(0.5)
    const asked = { name, to, as: name, rights: rights.length === 0 ? ['read' as const] : rights, live }
    const expected = this.#reference.link(pid, name, to, asked.rights, live)
    await this.#act(
      `link ${pid} ${name} to ${to} ${asked.rights.join(',')}${live ? ' live' : ''}`,
      to,
      () => expected.code,
      async (objects) => {
        await objects.link('host', pid, asked)
        return null
      },
      async () => {
        const row = await this.#open.ask({ ask: 'process', pid: to })
        const handle = `h_${to.slice(2)}_${row?.record.revision}`
        this.#handles.push(handle)
        expected.give(handle)
      },
    )
    return [to]
  }

  async #revoke(): Promise<readonly Pid[]> {
    if (this.#handles.length === 0) return []
    const handle = this.#random.pick(this.#handles)
    this.trace.push(`revoke ${handle}`)
    // It may be repeated until it is answered.
    for (;;) {
      try {
        await new Objects(testEdges(this.#faulty())).revoke('host', handle)
        break
      } catch (error) {
        if (!isCrash(error)) throw error
        await this.#reopen()
      }
    }
    this.#reference.revoke(handle)
    return []
  }

  async #release(): Promise<readonly Pid[]> {
    const [pid, name] = [this.#any(), this.#random.pick(NAMES)]
    await this.#act(
      `release ${pid} ${name}`,
      pid,
      () => this.#reference.release(pid, name),
      async (objects) => {
        await objects.release('host', pid, name)
        return null
      },
    )
    return [pid]
  }

  async #endOne(): Promise<readonly Pid[]> {
    const pid = this.#any()
    if (pid === FIRST || this.#reference.holders.get(pid)?.isLive !== true) return []
    this.trace.push(`end ${pid}`)
    const ending = { status: 'completed' } as const
    await perform(testEdges(this.#open), {
      ...{ type: 'end', pid, ending, replayKey: 'end', fence: null },
      ...{ actor: 'host', at: 1 },
    } as const)
    this.#reference.end(pid)
    const parent = this.#reference.holders.get(pid)?.parent
    return parent == null ? [pid] : [pid, parent]
  }

  async #merge(): Promise<readonly Pid[]> {
    const ended = [...this.#reference.holders.values()].filter(({ isLive }) => !isLive)
    const mergeable = ended.filter(({ parent }) => this.#reference.holders.get(parent ?? '')?.isLive === true)
    if (mergeable.length === 0) return []
    const { pid, parent } = this.#random.pick(mergeable)
    if (parent === null) return []
    this.trace.push(`merge ${pid} into ${parent}`)
    const was = await this.#revision(parent)
    let answer: { readonly merged: readonly string[]; readonly conflicts: readonly string[] } | undefined
    try {
      const report = await new Objects(testEdges(this.#faulty())).merge('host', parent, pid, 'all_new')
      answer = {
        merged: report.merged.map(({ name }) => name),
        conflicts: report.conflicts.map(({ name }) => name),
      }
    } catch (error) {
      if (!isCrash(error)) throw error
      await this.#reopen()
    }
    if ((await this.#revision(parent)) === was) return [parent]
    const expected = this.#reference.merge(parent, pid)
    if (answer !== undefined && JSON.stringify(answer) !== JSON.stringify(expected))
      this.violations.push(`merge of ${pid}: ${JSON.stringify(answer)}, and not ${JSON.stringify(expected)}`)
    return [parent]
  }

  async #restart(): Promise<readonly Pid[]> {
    this.trace.push('restart')
    await this.#reopen()
    return []
  }

  /** An act about one process: its answer, and what it changes, are those of the reference. */
  async #act(
    what: string,
    pid: Pid,
    expected: () => string | null,
    act: (objects: Objects) => Promise<string | null>,
    done: () => Promise<void> = async () => undefined,
  ): Promise<void> {
    const was = await this.#revision(pid)
    let answer: string | null
    try {
      answer = await act(new Objects(testEdges(this.#faulty())))
    } catch (error) {
      if (error instanceof RefusedError) answer = error.code
      else if (!isCrash(error)) throw error
      else {
        await this.#reopen()
        answer = CRASHED
      }
    }
    this.trace.push(`${what}: ${answer}`)
    const changed = (await this.#revision(pid)) !== was
    if (answer === CRASHED && !changed) return
    const code = expected()
    if (answer !== CRASHED && answer !== code) this.violations.push(`${what}: ${answer}, and not ${code}`)
    if (changed !== (code === null))
      this.violations.push(`${what}: changed ${changed}, and the answer is ${code}`)
    if (changed) await done()
  }

  async #compareAll(): Promise<void> {
    const objects = new Objects(testEdges(this.#open))
    for (const pid of this.#reference.holders.keys()) {
      const shown = this.#reference.shown(pid)
      const range = { prefix: '', after: null, limit: 100 }
      const { objects: found } = await objects.list('host', pid, range)
      const texts: string[] = []
      for (const { name, version, rights } of found) {
        const text = new TextDecoder().decode((await this.#open.blobs.get(version.hash)) ?? new Uint8Array())
        texts.push(`${name} ${version.oid} ${version.version} ${text} ${[...rights].sort().join(',')}`)
      }
      const expected = [...shown]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(
          ([name, { cell, rights }]) =>
            `${name} ${cell.oid} ${cell.version} ${cell.text} ${[...rights].sort().join(',')}`,
        )
      if (JSON.stringify(texts) !== JSON.stringify(expected))
        this.violations.push(`${pid} shows ${JSON.stringify(texts)}, and not ${JSON.stringify(expected)}`)
    }
  }

  #any(): Pid {
    return this.#random.pick([...this.#reference.holders.keys()])
  }

  async #revision(pid: Pid): Promise<number> {
    return (await this.#open.ask({ ask: 'process', pid }))?.record.revision ?? 0
  }

  async #revisions(): Promise<Map<Pid, number>> {
    const { items } = await this.#open.ask({
      ask: 'processes',
      filter: { status: 'any' },
      after: null,
      limit: 1_000,
    })
    return new Map(items.map(({ record }) => [record.pid, record.revision]))
  }

  get #open(): Store {
    if (this.#store === undefined) throw new Error('The world has not begun')
    return this.#store
  }

  async #reopen(): Promise<void> {
    this.crashes += 1
    await this.#store?.close()
    this.#store = await this.#world.open()
  }

  /** The store of a program that dies at its next commit, or goes on. */
  #faulty(): Store {
    const store = this.#open
    const fault = this.#random.weighted(['none', 'before', 'after'] as const, (one) =>
      one === 'none' ? 8 : 1,
    )
    return {
      durability: store.durability,
      ask: (question) => store.ask(question),
      blobs: store.blobs,
      onCommit: (listener) => store.onCommit(listener),
      close: () => store.close(),
      async write(plan) {
        if (fault === 'before') throw crash()
        const answer = await store.write(plan)
        if (fault === 'after') throw crash()
        return answer
      },
    }
  }
}

function crash(): StoreError {
  return new StoreError('outcome_unknown', CRASHED, 'Start it again.')
}

function isCrash(error: unknown): boolean {
  return error instanceof StoreError && error.message === CRASHED
}
