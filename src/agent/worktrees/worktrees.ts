import { readdir, realpath, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { agentSessionOf } from '../../core/agent/session.ts'
import { RefusedError } from '../../core/errors.ts'
import type { Pid } from '../../core/process/pid.ts'
import { hasEnded, type ProcessRecord } from '../../core/process/record.ts'
import { type RefusalCode, refusal } from '../../core/refusal.ts'
import {
  agentsOf,
  branchOf,
  keptBecause,
  type ListedWorktree,
  type MergedWorktree,
  type NewWorktree,
  type Worktree,
  type WorktreeFacts,
} from '../../core/worktree/worktree.ts'
import type { Kernel } from '../../kernel/kernel.ts'
import { refuseWrites } from '../toolbox/held-paths.ts'
import { git, gitOrRefuse, isCheckout, isFolder, pathsOf } from './git.ts'
import { commitAll, finishMerge, refuseOverwriting, type TriedMerge, tryMerge } from './merge.ts'
import { WorktreeNotes } from './worktree-notes.ts'

/** The git worktrees of one data folder. What exists is in its notes; what git says about it is asked anew each time. */
export class Worktrees {
  readonly #kernel: () => Kernel
  readonly #notes: WorktreeNotes
  readonly #onTrouble: (error: unknown, doing: string) => void
  /** Of agents that are being registered: they are in no store yet. */
  readonly #making = new Set<Pid>()
  /** Git takes locks in a repository and gives up if it meets one. */
  #last: Promise<unknown> = Promise.resolve()
  #settling: Promise<void> = Promise.resolve()
  #isDue = false
  /** Agents with worktrees: other ends cost nothing. */
  readonly #known = new Set<Pid>()
  /** An agent has ended, and what it started has not. */
  #isWaiting = false
  #unsubscribe: () => void = () => undefined
  #isClosed = false

  constructor(folder: string, kernel: () => Kernel, onTrouble: (error: unknown, doing: string) => void) {
    this.#notes = new WorktreeNotes(folder)
    this.#kernel = kernel
    this.#onTrouble = onTrouble
  }

  /** Cleans up after agents that ended while no daemon ran, and from now on at each end. */
  start(): void {
    this.#unsubscribe = this.#kernel().feed.onAll((events) => {
      const isEnd = ({ type, pid }: { readonly type: string; readonly pid: Pid }) =>
        type === 'ended' && (this.#isWaiting || this.#known.has(pid))
      if (this.#known.size > 0 && events.some(isEnd)) this.#settleSoon()
    })
    this.#settleSoon()
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#unsubscribe()
    await this.#settling
    await this.#last
  }

  /** Makes a worktree, or finds the one of an earlier request. Returns the folder of the agent in it. Call `settled` afterwards. */
  async make({
    pid,
    name,
    parent,
    from,
  }: NewWorktree): Promise<{ readonly cwd: string; readonly branch: string }> {
    this.#making.add(pid)
    this.#known.add(pid)
    return this.#exclusively(async () => {
      const asked = await this.#checkoutOf(from)
      const known = await this.#notes.read(pid)
      const worktree = known ?? {
        pid,
        name,
        parent,
        branch: await freeBranch(asked.into, name, pid),
        base: asked.head,
        folder: this.#notes.folderOf(pid),
        into: asked.into,
        madeAt: this.#kernel().edges.clock.now(),
      }
      if (known === null) await this.#notes.write(worktree)
      const { branch, base, folder } = worktree
      if (!(await isCheckout(folder))) {
        await forget(worktree)
        const hasBranch = await exists(worktree.into, branch)
        const args = hasBranch ? [folder, branch] : ['-b', branch, folder, base]
        await gitOrRefuse(worktree.into, ['worktree', 'add', '--quiet', ...args], 'make a worktree').catch(
          async (error: unknown) => {
            await this.#discard(worktree)
            throw error
          },
        )
      }
      return { cwd: join(await realpath(folder), asked.prefix), branch }
    }).catch((error: unknown) => {
      this.#making.delete(pid)
      throw error
    })
  }

  /** The agent is registered, or will not be: then its worktree is removed. */
  async settled(pid: Pid): Promise<void> {
    this.#making.delete(pid)
    const worktree = (await this.#record(pid)) === null ? await this.#notes.read(pid) : null
    if (worktree !== null) await this.#settle(worktree)
  }

  /** Before an agent is registered that goes on in the worktree of an ended one. Returns whether there is one: then call `settled` afterwards. */
  handOver(from: Pid, to: Pid): Promise<boolean> {
    return this.#exclusively(async () => {
      const worktree = (await this.#notes.all()).find((one) => agentsOf(one).includes(from))
      if (worktree === undefined) return false
      this.#making.add(to)
      this.#known.add(to)
      if (!agentsOf(worktree).includes(to))
        await this.#notes.write({ ...worktree, heirs: [...(worktree.heirs ?? []), to] })
      return true
    })
  }

  async list(): Promise<readonly ListedWorktree[]> {
    const all = await this.#notes.all()
    return Promise.all(all.map((worktree) => this.#listed(worktree)))
  }

  /** By the pid of an agent of it, its name or its branch. The newest, if several agents had the name. */
  async find(text: string): Promise<Worktree> {
    const all = await this.#notes.all()
    const found =
      all.find((one) => agentsOf(one).includes(text)) ??
      all.findLast(({ name, branch }) => name === text || branch === text)
    if (found !== undefined) return found
    throw refuse('not_found', `There is no worktree ${text}.`, 'List the worktrees to see which there are.')
  }

  /** The files of the checkout that a merge would change, absolute. */
  async changes(worktree: Worktree): Promise<readonly string[]> {
    const { paths } = await this.#exclusively(() => tryMerge(worktree))
    const uncommitted = await uncommittedIn(worktree.folder)
    return [...new Set([...paths, ...uncommitted])].map((path) => join(worktree.into, path))
  }

  /** Merges the branch into the checkout, as a whole or not at all. Changes that the agent has not committed are committed first. */
  async merge(worktree: Worktree): Promise<MergedWorktree> {
    const merged = await this.#exclusively(async () => {
      await this.#refuseAtWork(worktree)
      if (await isCheckout(worktree.folder)) await commitAll(worktree)
      const tried = await tryMerge(worktree)
      if ((await git(worktree.into, ['merge-base', '--is-ancestor', tried.tip, tried.head])).code === 0)
        return { commit: null, paths: [] }
      await refuseOverwriting(worktree, tried)
      await this.#refuseHeld(worktree, tried)
      return { commit: await finishMerge(worktree, tried), paths: tried.paths }
    })
    if ((await this.#settle(worktree)) === 'waiting') this.#isWaiting = true
    return { worktree, ...merged, removed: (await this.#notes.read(worktree.pid)) === null }
  }

  /** Removes the worktree of an agent that has ended. `discard`: with changes that are in no other place. */
  async remove(worktree: Worktree, discard: boolean): Promise<void> {
    await this.#exclusively(async () => {
      if (await this.#isInUse(worktree))
        throw refuse(
          'conflict',
          `${agentsOf(worktree).at(-1)} works in ${worktree.folder}.`,
          'End the agent first.',
        )
      const because = keptBecause(await factsOf(worktree))
      if (because !== null && !discard)
        throw refuse(
          'conflict',
          `The worktree of ${worktree.name} has work that is nowhere else: ${because}.`,
          `Merge it, or remove it with discard. It is in ${worktree.folder}, on the branch ${worktree.branch}.`,
        )
      await this.#discard(worktree)
    })
  }

  /** An end that comes while a round runs is seen by the next one. */
  #settleSoon(): void {
    if (this.#isDue) return
    this.#isDue = true
    this.#settling = this.#settling
      .then(() => {
        this.#isDue = false
        return this.#isClosed ? undefined : this.#settleAll()
      })
      .catch((error: unknown) => {
        if (!this.#isClosed && !this.#kernel().isClosed) this.#onTrouble(error, 'cleaning up worktrees')
      })
  }

  /** Removes the worktrees of ended agents in which nothing would be lost. */
  async #settleAll(): Promise<void> {
    let isWaiting = false
    for (const worktree of await this.#notes.all())
      if ((await this.#settle(worktree)) === 'waiting') isWaiting = true
    this.#isWaiting = isWaiting
  }

  #settle(worktree: Worktree): Promise<'waiting' | 'settled'> {
    return this.#exclusively(async () => {
      const pids = agentsOf(worktree)
      for (const pid of pids) this.#known.add(pid)
      if (pids.some((pid) => this.#making.has(pid)) || (await this.#lives(worktree))) return 'settled'
      // They run in the worktree.
      for (const pid of pids) await this.#kernel().startEndHooks(pid)
      if (await this.#hasProcesses(worktree)) return 'waiting'
      if (keptBecause(await factsOf(worktree)) === null) await this.#discard(worktree)
      return 'settled'
    })
  }

  async #listed(worktree: Worktree): Promise<ListedWorktree> {
    const facts = await factsOf(worktree)
    const isMade = agentsOf(worktree).some((pid) => this.#making.has(pid))
    const isInUse = isMade || (await this.#isInUse(worktree))
    const { heirs: _, ...noted } = worktree
    const pid = (await this.#newest(worktree)) ?? worktree.pid
    return { ...noted, ...facts, pid, state: isInUse ? 'in_use' : 'kept', because: keptBecause(facts) }
  }

  async #isInUse(worktree: Worktree): Promise<boolean> {
    return (await this.#lives(worktree)) || (await this.#hasProcesses(worktree))
  }

  /** The last agent of it that was registered. */
  async #newest(worktree: Worktree): Promise<Pid | undefined> {
    for (const pid of agentsOf(worktree).toReversed()) if ((await this.#record(pid)) !== null) return pid
    return undefined
  }

  async #lives(worktree: Worktree): Promise<boolean> {
    for (const pid of agentsOf(worktree)) {
      const record = await this.#record(pid)
      if (record !== null && !hasEnded(record)) return true
    }
    return false
  }

  /** Whether anything that an agent of it started still runs there. */
  async #hasProcesses(worktree: Worktree): Promise<boolean> {
    const live = await this.#kernel().edges.store.ask({
      ask: 'processes',
      filter: { owner: { session: agentsOf(worktree).map(agentSessionOf) } },
      after: null,
      limit: 1,
    })
    return live.items.length > 0
  }

  async #refuseAtWork(worktree: Worktree): Promise<void> {
    for (const pid of agentsOf(worktree)) {
      const record = await this.#record(pid)
      if (record === null || hasEnded(record) || record.agent?.turn === null) continue
      const message = `${pid} (${worktree.name}) is at work.`
      throw refuse('conflict', message, 'Wait until its turn is over, and merge then.')
    }
  }

  /** A merge writes files as a tool of the parent would. */
  async #refuseHeld({ parent, into }: Worktree, { paths }: TriedMerge): Promise<void> {
    if ((await this.#record(parent)) === null) return
    const [refused] = await refuseWrites(
      this.#kernel(),
      parent,
      paths.map((path) => join(into, path)),
    )
    if (refused !== undefined) throw new RefusedError(refused)
  }

  async #record(pid: Pid): Promise<ProcessRecord | null> {
    return (await this.#kernel().edges.store.ask({ ask: 'process', pid }))?.record ?? null
  }

  /** The note last, so that a crash in between leaves nothing unlisted. */
  async #discard(worktree: Worktree): Promise<void> {
    const { into, branch } = worktree
    await forget(worktree)
    if ((await isFolder(into)) && (await exists(into, branch)))
      await gitOrRefuse(into, ['branch', '-D', '--quiet', branch], 'remove a branch')
    await this.#notes.remove(worktree.pid)
    for (const pid of agentsOf(worktree)) this.#known.delete(pid)
  }

  async #checkoutOf(from: string) {
    const top = await git(from, ['rev-parse', '--show-toplevel', '--show-prefix'])
    if (top.code !== 0)
      throw refuse(
        'invalid_request',
        `${from} is not in a git repository.`,
        'Ask without a worktree, or run git init.',
      )
    const [into = '', prefix = ''] = top.stdout.split('\n')
    const head = await git(into, ['rev-parse', '--verify', '--quiet', 'HEAD'])
    if (head.code !== 0)
      throw refuse(
        'invalid_request',
        `The repository ${into} has no commit yet.`,
        'Commit once, and ask again.',
      )
    return { into: await realpath(into), prefix, head: head.stdout.trim() }
  }

  #exclusively<Answer>(act: () => Promise<Answer>): Promise<Answer> {
    const running = this.#last.then(act)
    this.#last = running.catch(() => undefined)
    return running
  }
}

async function factsOf(worktree: Worktree): Promise<WorktreeFacts> {
  const { folder, into, branch, base } = worktree
  const hasFolder = await isCheckout(folder)
  const isReadable = (await isFolder(into)) && (hasFolder || (await isAbsent(folder)))
  const hasBranch = isReadable && (await exists(into, branch))
  const uncommitted = hasFolder ? (await uncommittedIn(folder)).length : 0
  // The agent may have left its branch.
  const tips = [
    ...(hasBranch ? [`refs/heads/${branch}`] : []),
    ...(hasFolder ? [(await gitOrRefuse(folder, ['rev-parse', 'HEAD'], 'find its commit')).trim()] : []),
  ]
  if (tips.length === 0) return { isReadable, hasFolder, hasBranch, uncommitted, unmerged: 0 }
  const counted = await git(into, ['rev-list', '--count', ...tips, '^HEAD', `^${base}`])
  // Unknown is not none: what cannot be compared is kept.
  const unmerged = counted.code === 0 ? Number(counted.stdout.trim()) : 1
  return { isReadable, hasFolder, hasBranch, uncommitted, unmerged }
}

/** Git makes the folder before it knows it as a worktree: an empty one has no work in it. */
async function isAbsent(folder: string): Promise<boolean> {
  return !(await isFolder(folder)) || (await readdir(folder)).length === 0
}

async function uncommittedIn(folder: string): Promise<readonly string[]> {
  if (!(await isCheckout(folder))) return []
  const args = ['status', '--porcelain', '-z', '--no-renames', '--untracked-files=all']
  return pathsOf(await gitOrRefuse(folder, args, 'read the status')).map((line) => line.slice(3))
}

/** Removes the folder, and what git notes about it; also one that git was killed over. */
async function forget({ folder, into }: Worktree): Promise<void> {
  const hasRepository = await isFolder(into)
  if (hasRepository && (await isFolder(folder)))
    await git(into, ['worktree', 'remove', '--force', '--force', folder])
  await rm(folder, { recursive: true, force: true })
  if (!hasRepository) return
  await git(into, ['worktree', 'unlock', folder])
  await git(into, ['worktree', 'prune'])
}

async function freeBranch(into: string, name: string, pid: Pid): Promise<string> {
  const branch = branchOf(name)
  return (await exists(into, branch)) ? `${branch}-${pid}` : branch
}

async function exists(into: string, branch: string): Promise<boolean> {
  return (await git(into, ['show-ref', '--verify', '--quiet', `refs/heads/${branch}`])).code === 0
}

function refuse(code: RefusalCode, message: string, remedy: string): RefusedError {
  return new RefusedError(refusal(code, message, remedy))
}
