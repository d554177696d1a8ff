import type { MemoryTables } from './memory-tables.ts'

type Counter =
  | ('nextId' | 'nextNoticePosition' | 'nextUse' | 'nextApproval')
  | ('position' | 'prunedThrough' | 'live' | 'feed' | 'audit' | 'auditStart')

/** Changes tables in place, and remembers how to undo it. */
export class UndoLog {
  readonly #undo: (() => void)[] = []

  get isEmpty(): boolean {
    return this.#undo.length === 0
  }

  put<Value>(map: Map<string, Value>, key: string, value: Value): void {
    const before = map.get(key)
    map.set(key, value)
    this.#undo.push(() => (before === undefined ? map.delete(key) : map.set(key, before)))
  }

  remove<Value>(map: Map<string, Value>, key: string): void {
    const before = map.get(key)
    if (before === undefined) return
    map.delete(key)
    this.#undo.push(() => map.set(key, before))
  }

  push<Item>(list: Item[], item: Item): void {
    list.push(item)
    this.#undo.push(() => list.pop())
  }

  assign<Name extends Counter>(tables: MemoryTables, name: Name, value: MemoryTables[Name]): void {
    const before = tables[name]
    tables[name] = value
    this.#undo.push(() => {
      tables[name] = before
    })
  }

  /** Undoes everything, last change first. */
  rollBack(): void {
    for (const undo of this.#undo.splice(0).reverse()) undo()
  }
}
