import { stopOverdueAt } from '../../../src/core/process/give-up-stop.ts'
import type { ProcessRecord } from '../../../src/core/process/record.ts'
import { waitsOf, wakesAt } from '../../../src/core/process/wait.ts'
import { ELSEWHERE } from '../intents/allowances.ts'
import type { Entry } from '../ledger.ts'
import type { World } from '../world.ts'

/**
 * The invariants at rest: no faults any more, time enough for every lapse, backoff and sweep, and kernels that serve every
 * process.
 */
export function checkAtRest(world: World): void {
  for (const entry of world.ledger.processes.values()) {
    const { record } = entry
    if (entry.row.carry !== null)
      broke(world, 'no carry marks at rest', entry, `still has ${entry.row.carry}`)
    if (record.outcome !== null) continue
    checkLifetime(world, entry)
    checkLease(world, entry)
    checkWait(world, entry)
  }
  checkWatchers(world)
  const { observer } = world.ledger
  for (const scope of observer.ask({ ask: 'carryingScopes', limit: 1_000 }))
    world.stage.violated('no carry marks at rest', `${JSON.stringify(scope)} still has one`)
  for (const { id } of observer.ask({ ask: 'holders' }))
    if (!world.isAlive(id) && !holdsCommands(world, id))
      world.stage.violated('rows of dead holders are removed', `${id} still has its row`)
}

/** After all kernels have closed in order, no process has a holder. */
export function checkAllClosed(world: World): void {
  for (const entry of world.ledger.processes.values())
    if (entry.row.holder !== null && !isElsewhere(world, entry))
      broke(world, 'no lease without a holder', entry, `is held by ${entry.row.holder}`)
}

/** How late a wait may end: clocks differed when it was entered. */
const LATE_MS = 60_000
/** How long it may take to see and read a foreign commit after a lost nudge. */
const NOTICED_MS = 1_000

/** Waiters and followers have got their answers by themselves. */
export function checkWatchers({ stage, ledger, waits, followers }: World): void {
  const isOld = (what: number | string | undefined) =>
    what !== undefined && (ledger.since.get(what) ?? stage.now) < stage.now - NOTICED_MS
  for (const { peer, pid, settled } of waits) {
    if (settled || !peer.alive || peer.closing) continue
    const entry = ledger.processes.get(pid)
    if (
      entry === undefined ? isOld(pid) : entry.record.outcome !== null && isOld(entry.events.at(-1)?.position)
    )
      stage.violated(
        'a wait resolves if and only if it has ended',
        `${peer.name} still waits for ${pid}, which ${entry === undefined ? 'was pruned' : `is ${entry.record.status}`}`,
      )
  }
  for (const { peer, over, position: seen } of followers) {
    if (over || !peer.alive || peer.closing) continue
    const unseen = ledger.log.filter(
      ({ pid, position }) => position > seen && ledger.processes.has(pid) && isOld(position),
    )
    if (unseen.length > 0)
      stage.violated(
        'followers see every event once and in order',
        `${peer.name}'s is at ${seen}, ${unseen.length} behind`,
      )
  }
}

function checkLifetime(world: World, entry: Entry): void {
  const { record } = entry
  const why = mustHaveStopped(world, record)
  if (why === undefined) return
  if (record.stopRequest === null) broke(world, 'nothing outlives its lifetime', entry, `lives, and ${why}`)
}

function mustHaveStopped(world: World, { parent, lifetime, owner }: ProcessRecord): string | undefined {
  const above = parent === null ? undefined : world.ledger.entry(parent)?.record
  if (above !== undefined && lifetime === 'parent' && above.outcome !== null)
    return `its parent ${parent} is ${above.status}`
  const survivor = lifetime === 'daemon' || lifetime === 'detached'
  if (above?.stopRequest != null && above.stopRequest.how !== 'interrupt' && !survivor)
    return `its parent ${parent} was stopped`
  if (owner.session === undefined || (lifetime !== 'session' && lifetime !== 'turn')) return undefined
  const { observer } = world.ledger
  const session = observer.ask({ ask: 'session', id: owner.session })
  if (session === null || session.endedAt !== null) return `its session ${owner.session} has ended`
  if (lifetime !== 'turn' || owner.turn === undefined) return undefined
  const turn = observer.ask({ ask: 'turn', session: owner.session, id: owner.turn })
  return turn === null || turn.endedAt !== null ? `its turn ${owner.turn} has ended` : undefined
}

function checkLease(world: World, entry: Entry): void {
  const { record, row } = entry
  // Its outcome is unknown in this world.
  if (isElsewhere(world, entry)) return
  const ours = record.recovery !== 'external'
  if (record.stopRequest?.how === 'kill' && ours)
    broke(world, 'who executes is told to stop', entry, 'was killed, and lives')
  else if (row.holder !== null) checkHolder(world, entry, row.holder)
  else if (record.status === 'queued' && ours) checkReady(world, entry)
  else if (record.parked && record.status === 'waiting') checkParked(world, entry)
  else if (record.status !== 'paused' && ours)
    broke(world, 'nothing is left hanging', entry, `is ${record.status} without a holder`)
}

/** Held by a keeper outside of this world; or a command of a dead holder, which only a keeper could settle. */
function isElsewhere(world: World, { row, record }: Entry): boolean {
  if (row.holder === null || row.holder === ELSEWHERE) return row.holder === ELSEWHERE
  return record.kind === 'command' && !world.isAlive(row.holder)
}

function holdsCommands(world: World, holder: string): boolean {
  return [...world.ledger.processes.values()].some(
    (entry) => entry.row.holder === holder && entry.record.kind === 'command',
  )
}

/** The wait of a parked process has not ended; when it does, a kernel continues the process. */
function checkParked(world: World, entry: Entry): void {
  const due = wakesAt(entry.record)
  if (due !== null && due < world.stage.now - LATE_MS)
    broke(world, 'nothing is left lying', entry, `was parked until ${world.stage.now - due} ms ago`)
  for (const { on, name } of waitsOf(entry.record))
    if (on === 'child' && world.ledger.entry(name)?.record.outcome != null)
      broke(world, 'nothing is left lying', entry, `is parked until ${name} ends, which has ended`)
}

function checkReady(world: World, entry: Entry): void {
  const { retryAt } = entry.record
  if (retryAt !== null && retryAt > world.stage.now - NOTICED_MS) return
  // A process that waits has given its slot back.
  const usesSlot = (pid: string) => world.ledger.entry(pid)?.record.status !== 'waiting'
  const idle = world.open.find(
    (peer) => peer.serves(entry.record) && peer.kernel.executing.filter(usesSlot).length < peer.concurrency,
  )
  if (idle !== undefined)
    broke(world, 'nothing is left lying', entry, `is ready, and ${idle.name} could run it`)
}

/** A held process is executed by a live kernel, under the current fence, and its executor knows of a stop. */
function checkHolder(world: World, entry: Entry, holderId: string): void {
  const { record, row, pid } = entry
  const holder = world.peers.find((peer) => peer.holder === holderId && peer.alive)
  if (holder === undefined)
    broke(
      world,
      'no lease without a holder',
      entry,
      `is ${record.status}, held by ${holderId}, which is gone`,
    )
  else if (!holder.kernel.executing.includes(pid))
    broke(
      world,
      'a holder executes what it holds',
      entry,
      `is ${record.status}, and ${holder.name} does nothing`,
    )
  else if (holder.fenceOf(pid) !== row.fence)
    broke(
      world,
      'a holder executes what it holds',
      entry,
      `has ${row.fence}, its executor ${holder.fenceOf(pid)}`,
    )
  else if (record.stopRequest !== null && !holder.isToldToStop(pid))
    broke(world, 'who executes is told to stop', entry, `is ${record.status}, and its executor knows nothing`)
  else checkStopping(world, entry)
}

/** Code that ignores a stop is given up after its grace. */
function checkStopping(world: World, entry: Entry): void {
  const { stopRequest } = entry.record
  const overdueAt = stopRequest === null ? null : stopOverdueAt(stopRequest)
  if (overdueAt !== null && overdueAt < world.stage.now - LATE_MS)
    broke(
      world,
      'a stop that is ignored is given up',
      entry,
      `was to stop ${world.stage.now - overdueAt} ms ago`,
    )
}

/** A wait with a timeout ends in time, if the process has a holder. */
function checkWait(world: World, entry: Entry): void {
  const { wait, spec, stopRequest } = entry.record
  if (wait === null || wait.until === null || entry.row.holder === null) return
  // After a stop, or a failure of the disk, a stubborn executor goes on without leaving its wait.
  if (stopRequest !== null || JSON.stringify(spec).includes('"stubborn":true')) return
  if (wait.until < world.stage.now - LATE_MS)
    broke(
      world,
      'a wait ends when its time is up',
      entry,
      `waits on ${wait.name} until ${world.stage.now - wait.until} ms ago`,
    )
}

function broke(world: World, law: string, { pid }: Entry, what: string): void {
  world.stage.violated(law, `${pid} ${what}`)
}
