import type { ObjectRight } from '../../../src/core/object/object.ts'
import type { Pid } from '../../../src/core/process/pid.ts'

/** An object of one namespace. A live handle refers to the object itself, so that it sees what is written later. */
interface Cell {
  readonly oid: string
  readonly mutable: boolean
  version: number
  text: string
}

interface Seen {
  readonly cell: Cell
  readonly isOwn: boolean
  readonly rights: ReadonlySet<ObjectRight>
  readonly handle?: { readonly id: string; readonly chain: readonly string[]; readonly live: boolean }
}

interface Holder {
  readonly pid: Pid
  readonly parent: Pid | null
  isLive: boolean
  /** Deep copies: what the system under test must not need. */
  readonly view: Map<string, Seen>
  /** What the view showed at the fork. */
  readonly base: ReadonlyMap<string, { readonly oid: string; readonly version: number }>
  /** The last version of each name of its own namespace. */
  readonly last: Map<string, number>
  readonly written: Set<string>
}

const ALL: readonly ObjectRight[] = ['read', 'write', 'link', 'materialize', 'diff']

/** Objects as a program without storage would keep them: each fork copies the view of its parent. */
export class Reference {
  readonly holders = new Map<Pid, Holder>()
  readonly #revoked = new Set<string>()

  register(
    pid: Pid,
    parent: Pid | null,
    fork: { readonly of: Pid; readonly isReadOnly: boolean } | null,
  ): void {
    const view = new Map<string, Seen>()
    if (fork !== null)
      for (const [name, seen] of this.#holder(fork.of).view) {
        const rights = [...seen.rights].filter((right) => right !== 'write' || !fork.isReadOnly)
        view.set(name, {
          ...seen,
          cell: { ...seen.cell },
          isOwn: false,
          rights: new Set(rights),
        })
      }
    const base = new Map(
      [...view].map(([name, { cell }]) => [name, { oid: cell.oid, version: cell.version }]),
    )
    this.holders.set(pid, { pid, parent, isLive: true, view, base, last: new Map(), written: new Set() })
  }

  /** The code of the refusal; null if it is put, and `kept` if nothing changes. */
  put(pid: Pid, name: string, text: string, mutable: boolean, expect: number | undefined): string | null {
    const holder = this.#holder(pid)
    const seen = holder.view.get(name)
    if (seen !== undefined && this.#isRevoked(seen)) return 'denied'
    if (!holder.isLive) return 'already_ended'
    const { last } = holder
    if (seen === undefined) {
      if (expect !== undefined && expect > 0) return 'conflict'
      const version = (last.get(name) ?? 0) + 1
      this.#set(holder, name, { oid: `${pid}/${name}`, mutable, version, text })
      return null
    }
    const { cell, rights, isOwn, handle } = seen
    if (
      cell.text === text &&
      (expect === undefined || expect === cell.version || expect === cell.version - 1)
    )
      return 'kept'
    if (!cell.mutable) return 'conflict'
    if (!rights.has('write')) return 'denied'
    if (expect !== cell.version) return 'conflict'
    if (isOwn && handle?.live === true) {
      const owner = this.#holder(cell.oid.split('/')[0] ?? '')
      if (!owner.isLive) return 'already_ended'
      owner.last.set(cell.oid.slice(owner.pid.length + 1), cell.version + 1)
      cell.version += 1
      cell.text = text
      return null
    }
    if (isOwn && handle === undefined) {
      cell.version += 1
      cell.text = text
      last.set(name, cell.version)
      return null
    }
    this.#set(holder, name, { oid: `${pid}/${name}`, mutable: true, version: cell.version + 1, text })
    return null
  }

  link(
    pid: Pid,
    name: string,
    to: Pid,
    rights: readonly ObjectRight[],
    live: boolean,
  ): { readonly code: string | null; give(handle: string): void } {
    const [giver, holder] = [this.#holder(pid), this.#holder(to)]
    const seen = giver.view.get(name)
    const give = (id: string) => {
      if (seen === undefined) return
      const chain = seen.handle === undefined ? [] : [seen.handle.id, ...seen.handle.chain]
      const isLive = live && seen.handle?.live !== false
      const cell = isLive ? seen.cell : { ...seen.cell }
      const handle = { id, chain, live: isLive }
      holder.view.set(name, { cell, isOwn: true, rights: new Set(rights), handle })
      holder.last.set(name, cell.version)
      holder.written.add(name)
    }
    return { code: this.#refuseLink(giver, holder, name, rights), give }
  }

  #refuseLink(giver: Holder, holder: Holder, name: string, rights: readonly ObjectRight[]): string | null {
    const seen = giver.view.get(name)
    if (seen === undefined) return 'not_found'
    if (this.#isRevoked(seen) || !seen.rights.has('link')) return 'denied'
    if (!holder.isLive) return 'already_ended'
    if (rights.some((right) => !seen.rights.has(right))) return 'denied'
    const source = this.holders.get(seen.cell.oid.split('/')[0] ?? '')
    if (source?.isLive === false && seen.handle === undefined) return 'already_ended'
    const taken = holder.view.get(name)
    return taken !== undefined && !this.#isRevoked(taken) ? 'name_in_use' : null
  }

  revoke(handle: string): void {
    this.#revoked.add(handle)
  }

  release(pid: Pid, name: string): string | null {
    const holder = this.#holder(pid)
    const seen = holder.view.get(name)
    if (seen !== undefined && this.#isRevoked(seen)) return 'denied'
    if (!holder.isLive) return 'already_ended'
    if (seen === undefined) return 'not_found'
    if (!seen.isOwn && !seen.rights.has('write')) return 'denied'
    holder.view.delete(name)
    holder.written.add(name)
    holder.last.set(name, seen.cell.version)
    return null
  }

  end(pid: Pid): void {
    this.#holder(pid).isLive = false
  }

  merge(parentPid: Pid, childPid: Pid) {
    const [parent, child] = [this.#holder(parentPid), this.#holder(childPid)]
    const merged: string[] = []
    const conflicts: string[] = []
    for (const name of [...child.written].sort()) {
      const theirs = child.view.get(name)
      const found = parent.view.get(name)
      const now = found === undefined || this.#isRevoked(found) ? undefined : found
      if (theirs === undefined || theirs.handle !== undefined || theirs.cell.text === now?.cell.text) continue
      const base = child.base.get(name)
      const isUnchanged =
        base === undefined
          ? now === undefined
          : now?.cell.oid === base.oid && now.cell.version === base.version
      const isFree =
        now === undefined ||
        (now.cell.mutable && (now.isOwn && now.handle === undefined ? true : now.rights.has('write')))
      if (!isUnchanged || !isFree) {
        conflicts.push(name)
        continue
      }
      const version = Math.max(parent.last.get(name) ?? 0, now?.cell.version ?? 0) + 1
      this.#set(parent, name, { ...theirs.cell, oid: `${parentPid}/${name}`, version })
      merged.push(name)
    }
    return { merged, conflicts }
  }

  /** What the view shows, by name. */
  shown(pid: Pid): Map<string, Seen> {
    return new Map([...this.#holder(pid).view].filter(([, seen]) => !this.#isRevoked(seen)))
  }

  #set(holder: Holder, name: string, cell: Cell): void {
    holder.view.set(name, { cell, isOwn: true, rights: new Set(ALL) })
    holder.last.set(name, cell.version)
    holder.written.add(name)
  }

  #isRevoked({ handle }: Seen): boolean {
    return handle !== undefined && [handle.id, ...handle.chain].some((id) => this.#revoked.has(id))
  }

  #holder(pid: Pid): Holder {
    const found = this.holders.get(pid)
    if (found === undefined) throw new Error(`The reference has no ${pid}`)
    return found
  }
}
