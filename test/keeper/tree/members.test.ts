import { expect, test } from 'vitest'
import type { ProgramIdentity } from '../../../src/keeper/protocol/program-state.ts'
import { markersIn } from '../../../src/keeper/tree/markers.ts'
import { membersOf } from '../../../src/keeper/tree/members.ts'
import { ProcTable } from '../../../src/keeper/tree/proc-table.ts'
import { bootId } from '../../../src/os/boot.ts'
import type { ProcStat } from '../../../src/os/stat.ts'

/** More than the system ever assigns, so that no real process is meant. */
const LEADER = 9_000_000
const [CHILD, GRANDCHILD, ESCAPED, OTHER] = [LEADER + 1, LEADER + 2, LEADER + 3, LEADER + 4]

const program: ProgramIdentity = {
  osPid: LEADER,
  startTime: '5000',
  boot: bootId(),
  group: LEADER,
  tree: 'marker',
  cgroup: null,
  memoryBy: null,
}

const inGroup = { group: LEADER, session: LEADER }
const elsewhere = { group: OTHER, session: OTHER }

test('group, session and descendants are the tree, children before parents', () => {
  const table = tableOf({
    [LEADER]: inGroup,
    [CHILD]: { ppid: LEADER, ...inGroup },
    [GRANDCHILD]: { ppid: CHILD, ...elsewhere },
    [ESCAPED]: { ppid: 1, group: 77, session: LEADER },
    [OTHER]: { ppid: 1, ...elsewhere },
  })
  const found = membersOf(program, null, { table }).map(({ osPid }) => osPid)
  expect(found).toHaveLength(4)
  expect(found.indexOf(GRANDCHILD)).toBeLessThan(found.indexOf(CHILD))
  expect(found.indexOf(CHILD)).toBeLessThan(found.indexOf(LEADER))
  expect(found).toContain(ESCAPED)
})

test('a stranger under the PID of the program brings in neither group nor session nor children', () => {
  const table = tableOf({
    [LEADER]: { startTime: '6000', ...inGroup },
    [CHILD]: { ppid: LEADER, startTime: '6001', ...inGroup },
  })
  expect(membersOf(program, null, { table })).toEqual([])
})

test('a zombie is no member, but its group is still its own', () => {
  const table = tableOf({ [LEADER]: { state: 'Z', ...inGroup }, [CHILD]: { ppid: 1, ...inGroup } })
  expect(membersOf(program, null, { table }).map(({ osPid }) => osPid)).toEqual([CHILD])
})

test('after the program is gone, its group counts only if it has a proved member', () => {
  const table = tableOf({ [CHILD]: { ppid: 1, ...inGroup }, [GRANDCHILD]: { ppid: 1, ...inGroup } })
  expect(membersOf(program, null, { table })).toEqual([])
  const known = [{ osPid: CHILD, startTime: '5001', ppid: LEADER, name: 'x' }]
  expect(osPidsOf(membersOf(program, null, { table, known }))).toEqual([CHILD, GRANDCHILD])
  const stale = [{ ...known[0]!, startTime: '4999' }]
  expect(membersOf(program, null, { table, known: stale })).toEqual([])
})

test('a child that is older than its parent is not its child', () => {
  const table = tableOf({ [LEADER]: inGroup, [CHILD]: { ppid: LEADER, startTime: '4000', ...elsewhere } })
  expect(osPidsOf(membersOf(program, null, { table }))).toEqual([LEADER])
})

test('the keeper, its ancestors and its other children are never members', () => {
  const table = tableOf({
    [process.pid]: { ppid: process.ppid, ...inGroup },
    [process.ppid]: { ppid: 1, ...inGroup },
    [LEADER]: { ppid: process.pid, ...inGroup },
    [CHILD]: { ppid: process.pid, ...inGroup },
  })
  expect(osPidsOf(membersOf(program, null, { table }))).toEqual([LEADER])
})

test('on another boot there are no members', () => {
  const table = tableOf({ [LEADER]: inGroup })
  expect(membersOf({ ...program, boot: 'another' }, null, { table })).toEqual([])
})

test('a marker counts by its whole value', () => {
  const environ = Buffer.from('A=1\0REEVE_PROCESS=p1@h\0NOT_REEVE_PROCESS=p2@h\0B=REEVE_PROCESS=p3@h\0')
  expect(markersIn(environ)).toEqual(['p1@h'])
  expect(markersIn(Buffer.from(''))).toEqual([])
})

function tableOf(processes: Readonly<Record<number, Partial<ProcStat>>>): ProcTable {
  const stats = Object.entries(processes).map(([osPid, some]): [number, ProcStat] => {
    const startTime = String(5000 + Math.max(0, Number(osPid) - LEADER))
    return [
      Number(osPid),
      { state: 'S', ppid: 1, group: 1, session: 1, name: 'x', threads: 1, startTime, ...some },
    ]
  })
  return ProcTable.of(stats)
}

function osPidsOf(members: readonly { osPid: number }[]): number[] {
  return members.map(({ osPid }) => osPid).sort()
}
