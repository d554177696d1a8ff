import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { median, now, sleep, until } from '../clock.ts'
import { type Figure, figure, valueAtMost } from '../figure.ts'
import { childrenOf, isAlive } from './proc.ts'
import { command, freshFolder, openReeve, quoted, type Setup } from './setup.ts'

/** Reeve's default grace before SIGKILL. */
const GRACE_MS = 2_000
const MAX_AFTER_GRACE_MS = 300
const SIZE = 8

/** A tree of eight processes on three levels; some ignore SIGTERM, and one has left the session. */
export async function* treeKill(setup: Setup, rounds: number): AsyncGenerator<Figure> {
  const { reeve, close } = await openReeve(setup)
  const times: number[] = []
  let survivors = 0
  try {
    for (let round = 0; round < rounds; round++) {
      const tree = plantedIn(freshFolder(setup, 'tree'))
      const { record } = await reeve.spawn(command(tree.line))
      await until('the tree is whole', () => tree.members().length === SIZE)
      const members = tree.members()
      const begun = now()
      await reeve.kill({ pid: record.pid })
      // Processes that it reports as gone must be gone by now.
      survivors += members.filter(isAlive).length
      times.push(now() - begun)
      await sleep(50)
    }
    const name = `kill of a tree of ${SIZE}, SIGTERM ignored, one by setsid`
    yield figure(`${name}: survivors`, survivors, 'OS processes', undefined, valueAtMost(0, 'survivors'))
    yield figure(`${name}: until all are gone`, median(times), 'ms', undefined, {
      ...valueAtMost(GRACE_MS + MAX_AFTER_GRACE_MS, 'ms'),
      text: `≤ grace + ${MAX_AFTER_GRACE_MS} ms`,
    })
  } finally {
    await close()
  }
}

/** Each of the seven named processes records its PID; the eighth is the sleep of the loop. */
function plantedIn(folder: string): { line: string; members: () => number[] } {
  const pids = join(folder, 'pids')
  const script = join(folder, 'tree.sh')
  mkdirSync(pids)
  writeFileSync(
    script,
    `
echo $$ > ${pids}/root
sh -c 'echo $$ > ${pids}/a
  sh -c "echo \\$\\$ > ${pids}/a1; exec sleep 1000" &
  sh -c "trap \\"\\" TERM; echo \\$\\$ > ${pids}/a2; while :; do sleep 1000; done" &
  setsid sh -c "echo \\$\\$ > ${pids}/a3; exec sleep 1000" &
  wait' &
sh -c 'trap "" TERM; echo $$ > ${pids}/b
  sh -c "echo \\$\\$ > ${pids}/b1; exec sleep 1000" &
  wait' &
wait
`,
  )
  const members = () => {
    const named = readdirSync(pids).map((name) => Number(readFileSync(join(pids, name), 'utf8')))
    const known = named.filter((osPid) => osPid > 1)
    return [...new Set([...known, ...known.flatMap(childrenOf)])].filter(isAlive)
  }
  return { line: `exec sh ${quoted(script)}`, members }
}
