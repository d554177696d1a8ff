import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type DelegatedPaths, type Liens, pathsInSpec, withoutLien } from '../../../src/core/lien/lien.ts'
import { refuseLending, withLien } from '../../../src/core/lien/refuse-lending.ts'
import { refuseWrite } from '../../../src/core/lien/refuse-write.ts'
import { evolve } from '../../../src/core/process/evolve.ts'
import type { ProcessRecord } from '../../../src/core/process/record.ts'
import { registered } from '../registered.ts'

const HOST = 'laptop'

/** A tree of agents in /w, and the liens of its host. The rules alone change it. */
class Tree {
  row: Liens | null = null
  readonly #records = new Map<string, ProcessRecord>()
  readonly #foldsCase: boolean

  constructor(foldsCase = false) {
    this.#foldsCase = foldsCase
    this.add('p_root', null, null)
  }

  get pids(): readonly string[] {
    return [...this.#records.keys()]
  }

  line(pid: string | null): readonly ProcessRecord[] {
    const record = pid === null ? undefined : this.#records.get(pid)
    return record === undefined ? [] : [record, ...this.line(record.parent)]
  }

  paths(paths: readonly string[]): DelegatedPaths {
    return { host: HOST, paths, ...(this.#foldsCase ? { foldsCase: true } : {}) }
  }

  add(pid: string, parent: string | null, paths: readonly string[] | null): void {
    const given = paths === null ? {} : { paths: pathsInSpec(this.paths(paths)) }
    const spec = { agent: 'coder', model: 'scripted/demo', ...given }
    const { record } = registered(pid, { kind: 'agent', cwd: '/w', spec })
    this.#records.set(pid, { ...record, parent })
  }

  /** A child as a registration makes it: with all of its paths, or not at all. */
  spawn(pid: string, parent: string, paths: readonly string[]): string | undefined {
    const asked = this.paths(paths)
    const facts = { row: this.row, above: this.line(parent), ending: new Set<string>() }
    const refused = refuseLending(facts, asked)
    if (refused !== undefined) return refused.code
    this.add(pid, parent, paths)
    const { host: _, ...lien } = asked
    this.row = withLien(this.row, HOST, { holder: pid, name: pid, ...lien })
    return undefined
  }

  end(pid: string): void {
    const record = this.#records.get(pid)
    if (record === undefined || record.outcome !== null) return
    const at = { pid, seq: record.revision + 1, at: 2_000, actor: 'host', replayKey: null } as const
    const outcome = {
      status: 'completed',
      exitCode: null,
      signal: null,
      reason: null,
      source: null,
      result: null,
      evidence: null,
      startedAt: null,
      endedAt: 2_000,
    } as const
    this.#records.set(pid, evolve(record, { ...at, type: 'ended', payload: outcome }))
    if (this.row !== null) this.row = withoutLien(this.row, pid) ?? this.row
  }

  mayWrite(pid: string, path: string): boolean {
    return refuseWrite(this.row, this.line(pid), path) === undefined
  }

  message(pid: string, path: string): string | undefined {
    return refuseWrite(this.row, this.line(pid), path)?.message
  }

  isLive(pid: string): boolean {
    return this.#records.get(pid)?.outcome === null
  }
}

test('a parent loses what it lent, and nothing beside it, until the child ends', () => {
  const tree = new Tree()
  expect(tree.spawn('p_a', 'p_root', ['/w/src', '/w/a.md'])).toBeUndefined()
  expect([tree.mayWrite('p_a', '/w/src/x'), tree.mayWrite('p_a', '/w/a.md')]).toEqual([true, true])
  expect(tree.message('p_root', '/w/src/x')).toBe('p_a (p_a) has src until it ends, so src/x is not free.')
  expect([tree.mayWrite('p_root', '/w/srcs'), tree.mayWrite('p_root', '/w/a.md.bak')]).toEqual([true, true])
  expect(tree.message('p_a', '/w/docs/x')).toBe('You may write below src, a.md only, and docs/x is outside.')
  tree.end('p_a')
  expect([tree.mayWrite('p_root', '/w/src/x'), tree.mayWrite('p_a', '/w/src/x')]).toEqual([true, false])
})

test('a child without paths writes what its parent writes, and no more when that one has ended', () => {
  const tree = new Tree()
  tree.spawn('p_a', 'p_root', ['/w/src'])
  tree.add('p_b', 'p_a', null)
  expect([tree.mayWrite('p_b', '/w/src/x'), tree.mayWrite('p_b', '/w/docs/x')]).toEqual([true, false])
  tree.end('p_a')
  expect([tree.mayWrite('p_b', '/w/src/x'), tree.mayWrite('p_b', '/w/docs/x')]).toEqual([false, false])
})

test('what a child lent further comes back with the end of the one that has it', () => {
  const tree = new Tree()
  tree.spawn('p_a', 'p_root', ['/w/src'])
  expect(tree.spawn('p_b', 'p_a', ['/w/src/b'])).toBeUndefined()
  expect([tree.mayWrite('p_a', '/w/src/b/x'), tree.mayWrite('p_root', '/w/src/b/x')]).toEqual([false, false])
  tree.end('p_a')
  expect([tree.mayWrite('p_root', '/w/src/x'), tree.mayWrite('p_root', '/w/src/b/x')]).toEqual([true, false])
  tree.end('p_b')
  expect(tree.mayWrite('p_root', '/w/src/b/x')).toBe(true)
})

test('names differ by case only where the file system says so', () => {
  expect(new Tree().spawn('p_a', 'p_root', ['/w/src'])).toBeUndefined()
  const exact = new Tree()
  exact.spawn('p_a', 'p_root', ['/w/src'])
  expect(exact.spawn('p_b', 'p_root', ['/w/SRC'])).toBeUndefined()
  const folding = new Tree(true)
  folding.spawn('p_a', 'p_root', ['/w/src'])
  expect(folding.spawn('p_b', 'p_root', ['/w/SRC/b'])).toBe('path_held')
  expect([folding.mayWrite('p_a', '/w/Src/x'), folding.mayWrite('p_root', '/w/Src/x')]).toEqual([true, false])
})

const PATHS = ['/w', '/w/a', '/w/a/b', '/w/a/b/c', '/w/ab', '/w/d', '/w/d/e', '/w/D/e']
const move = fc.oneof(
  fc.record({
    do: fc.constant('spawn' as const),
    parent: fc.nat(11),
    paths: fc.uniqueArray(fc.constantFrom(...PATHS), { minLength: 1, maxLength: 3 }),
  }),
  fc.record({ do: fc.constant('share' as const), parent: fc.nat(11) }),
  fc.record({ do: fc.constant('end' as const), of: fc.nat(11) }),
)

test('after any order of spawns and ends a path has one writer among the holders, and is free when they are gone', () => {
  fc.assert(
    fc.property(fc.array(move, { maxLength: 30 }), fc.boolean(), (moves, foldsCase) => {
      const tree = new Tree(foldsCase)
      /** Who asked for which paths and got them: kept beside the rules. */
      const given = new Map<string, readonly string[]>()
      const lines = new Map<string, readonly string[]>([['p_root', []]])
      for (const [index, one] of moves.entries()) {
        const pids = tree.pids
        const at = (number: number) => pids[number % pids.length] ?? 'p_root'
        const pid = `p_${index}`
        if (one.do === 'end') {
          if (at(one.of) !== 'p_root') tree.end(at(one.of))
        } else if (tree.isLive(at(one.parent))) {
          const parent = at(one.parent)
          lines.set(pid, [parent, ...(lines.get(parent) ?? [])])
          if (one.do === 'share') tree.add(pid, parent, null)
          else if (tree.spawn(pid, parent, one.paths) === undefined) given.set(pid, one.paths)
        }
        for (const path of PATHS) {
          const file = `${path}/file`
          const live = [...given.keys()].filter((holder) => tree.isLive(holder))
          const writers = live.filter((holder) => tree.mayWrite(holder, file))
          expect(writers.length).toBeLessThanOrEqual(1)
          const covering = live.filter((holder) =>
            given.get(holder)?.some((held) => isIn(file, held, foldsCase)),
          )
          expect(tree.mayWrite('p_root', file)).toBe(covering.length === 0)
          // Each of them has it from the one above it, so one of them has it alone.
          const innermost = covering.filter(
            (pid) => !covering.some((other) => lines.get(other)?.includes(pid)),
          )
          expect(writers).toEqual(innermost)
        }
      }
      for (const pid of tree.pids) if (pid !== 'p_root') tree.end(pid)
      expect(tree.row?.liens ?? []).toEqual([])
      for (const path of PATHS) expect(tree.mayWrite('p_root', `${path}/file`)).toBe(true)
    }),
    { numRuns: 300 },
  )
})

function isIn(file: string, folder: string, foldsCase: boolean): boolean {
  const [parts, above] = [file, folder].map((path) => (foldsCase ? path.toLowerCase() : path).split('/'))
  return above?.every((part, index) => parts?.[index] === part) ?? false
}
