import { readdir, readFile, readlink } from 'node:fs/promises'
import type { ProcessRecord, Program } from '../core/process/record.ts'
import { isOver, type ProcStat, parseStat } from '../os/stat.ts'

/** The TCP ports that commands and their descendants listen on, by pid. Unreadable processes are left out. Linux only. */
export async function listeningPorts(records: readonly ProcessRecord[]): Promise<Map<string, number[]>> {
  const running = records.flatMap(({ pid, program, outcome }) =>
    program === null || outcome !== null ? [] : [{ pid, program }],
  )
  const ports = new Map<string, number[]>()
  if (running.length === 0 || process.platform !== 'linux') return ports
  const table = await osProcesses()
  await Promise.all(
    running.map(async ({ pid, program }) => {
      const found = await portsOf(membersOf(program, table), program.osPid)
      if (found.length > 0) ports.set(pid, found)
    }),
  )
  return ports
}

/**
 * Whether a command or one of its descendants listens on a port. Null if that cannot be seen: its program is gone, or may not
 * be inspected.
 */
export async function listensOn({ program }: ProcessRecord, port: number): Promise<boolean | null> {
  if (program === null || process.platform !== 'linux') return null
  const members = membersOf(program, await osProcesses())
  if (members.length === 0) return null
  if ((await portsOf(members, program.osPid)).includes(port)) return true
  const seen = await Promise.all(members.map((osPid) => orNothing(readdir(`/proc/${osPid}/fd`))))
  return seen.includes(null) ? null : false
}

interface OsProcess extends ProcStat {
  readonly osPid: number
}

async function osProcesses(): Promise<OsProcess[]> {
  const names = (await orNothing(readdir('/proc'))) ?? []
  const found = await Promise.all(
    names
      .filter((name) => /^\d+$/.test(name))
      .map(async (name) => {
        const text = await orNothing(readFile(`/proc/${name}/stat`, 'utf8'))
        return text === null ? [] : [{ osPid: Number(name), ...parseStat(text) }]
      }),
  )
  return found.flat()
}

/** The program, its group and its descendants; empty if the PID belongs to another program by now. */
function membersOf({ osPid, startTime, group }: Program, table: readonly OsProcess[]): number[] {
  const own = table.find((one) => one.osPid === osPid)
  if (own !== undefined && startTime !== null && own.startTime !== startTime) return []
  const members = new Set(
    table.filter((one) => one.osPid === osPid || one.group === group).map((one) => one.osPid),
  )
  const children = Map.groupBy(table, ({ ppid }) => ppid)
  const next = [...members]
  for (let parent = next.pop(); parent !== undefined; parent = next.pop())
    for (const child of children.get(parent) ?? [])
      if (!members.has(child.osPid)) {
        members.add(child.osPid)
        next.push(child.osPid)
      }
  // A zombie has no files open, and its folder cannot be read.
  return table.filter((one) => members.has(one.osPid) && !isOver(one)).map(({ osPid }) => osPid)
}

async function portsOf(members: readonly number[], osPid: number): Promise<number[]> {
  const sockets = new Set((await Promise.all(members.map(socketsOf))).flat())
  if (sockets.size === 0) return []
  const tables = await Promise.all(
    ['tcp', 'tcp6'].map((name) => orNothing(readFile(`/proc/${osPid}/net/${name}`, 'utf8'))),
  )
  const ports = tables.flatMap((text) => listening(text ?? '')).filter(({ inode }) => sockets.has(inode))
  return [...new Set(ports.map(({ port }) => port))].sort((a, b) => a - b)
}

/** State 0A is LISTEN; the address is hexadecimal, as is the port behind its colon. */
function listening(text: string): { readonly port: number; readonly inode: string }[] {
  return text.split('\n').flatMap((line) => {
    const [, local, , state, , , , , , inode] = line.trim().split(/\s+/)
    const port = local?.split(':')[1]
    return state === '0A' && port !== undefined && inode !== undefined
      ? [{ port: Number.parseInt(port, 16), inode }]
      : []
  })
}

async function socketsOf(osPid: number): Promise<string[]> {
  const folder = `/proc/${osPid}/fd`
  const names = (await orNothing(readdir(folder))) ?? []
  const links = await Promise.all(names.map((name) => orNothing(readlink(`${folder}/${name}`))))
  return links.flatMap((link) => /^socket:\[(\d+)\]$/.exec(link ?? '')?.[1] ?? [])
}

/** The process is gone, or may not be read. */
async function orNothing<Value>(reading: Promise<Value>): Promise<Value | null> {
  try {
    return await reading
  } catch {
    return null
  }
}
