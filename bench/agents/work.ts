import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { OutputOf } from '../../src/index.ts'
import { byCallers, now, quantile, sleep } from '../clock.ts'
import type { Asked } from '../doors/asker.ts'
import { load } from '../doors/load.ts'
import { freshFolder, type Setup } from '../doors/setup.ts'
import { Daemon } from '../doors/start-daemon.ts'
import { type Figure, figure, valueAtMost } from '../figure.ts'

const PER_SECOND = 100
const WARM_SECONDS = 2
const MAX_MS = 50
const CALLERS = 8
/** 30 fragments a second. */
const FRAGMENT_MS = 33
/** A scripted model sends so many characters at a time. */
const FRAGMENT_CHARS = 12
const ANSWER_SECONDS = 5
const COMMITS = 500

/**
 * Requests at a fixed rate while agents work: half of them list agents, and half show one. Each agent streams answers of 5 s, turn after turn,
 * and reads a file in each turn. The daemon waits for the disk with every commit, so a bare commit on the same disk is measured beside it.
 */
export async function* work(
  setup: Setup,
  { count, seconds }: { count: number; seconds: number },
): AsyncGenerator<Figure> {
  const daemon = await Daemon.start(setup)
  try {
    const cwd = freshFolder(setup, 'workspace')
    writeFileSync(join(cwd, 'stream.json'), JSON.stringify(script()))
    writeFileSync(join(cwd, 'read.txt'), 'A line of a file that agents read.\n'.repeat(100))
    yield figure('a bare commit of SQLite: p99', bareCommit(join(daemon.home, 'bare.db')), 'ms')
    const idle = await load({ seconds, perSecond: PER_SECOND }, (index) => daemon.asker.ask(asked([], index)))
    const pids: string[] = []
    await byCallers(count, CALLERS, async () => pids.push(await startAgent(daemon, cwd)))
    await sleep(WARM_SECONDS * 1_000)
    const requests = (index: number) => daemon.asker.ask(asked(pids, index))
    await load({ seconds: WARM_SECONDS, perSecond: PER_SECOND }, requests)
    const busy = await load({ seconds, perSecond: PER_SECOND }, requests)
    const name = `API, ${PER_SECOND} requests/s beside ${count} agents at work`
    const compared = (what: 'p50' | 'p99') => ({
      ratio: busy[what] / idle[what],
      against: 'the same daemon without agents',
    })
    yield figure(`${name}: p99`, busy.p99, 'ms', compared('p99'), valueAtMost(MAX_MS, 'ms'))
    yield figure(`${name}: p50`, busy.p50, 'ms', compared('p50'))
    yield figure(`${name}: agents at work at the end`, await running(daemon, pids), 'agents')
  } finally {
    await daemon.close()
  }
}

/** Two answers in each turn, with a tool call between them. */
function script() {
  const text = 'x'.repeat(FRAGMENT_CHARS * ANSWER_SECONDS * 30)
  const answer = (...more: readonly object[]) => ({ fragmentMs: FRAGMENT_MS, parts: [{ text }, ...more] })
  return {
    replies: [{ when: { tool: 'read_file' }, answer: answer() }],
    answers: [answer({ tool: 'read_file', input: { path: 'read.txt' } })],
    atEnd: 'repeat',
  }
}

/** The p99 of small transactions in a file of their own. */
function bareCommit(file: string): number {
  const database = new DatabaseSync(file)
  try {
    database.exec('pragma journal_mode = wal; pragma synchronous = full; create table row (text text)')
    const insert = database.prepare('insert into row values (?)')
    const times = Array.from({ length: COMMITS }, () => {
      const begun = now()
      insert.run('x'.repeat(1_000))
      return now() - begun
    })
    return quantile(times, 0.99)
  } finally {
    database.close()
  }
}

async function startAgent(daemon: Daemon, cwd: string): Promise<string> {
  const spec = { agent: 'helper', model: 'scripted/stream.json', goal: 'go on' }
  const body = { kind: 'agent', cwd, spec }
  const answer = await daemon.asker.json({ method: 'POST', path: '/v1/processes', body })
  const { pid } = (answer as OutputOf<'spawn'>).record
  // Each turn streams for a while; the next ones follow without a gap.
  for (let turn = 0; turn < QUEUED_TURNS; turn++) {
    const input = { text: 'and on', mode: 'queue' }
    await daemon.asker.ask({ method: 'POST', path: `/v1/agents/${pid}/run`, body: input })
  }
  return pid
}

const QUEUED_TURNS = 6

function asked(pids: readonly string[], index: number): Asked {
  const pid = pids[index % Math.max(pids.length, 1)]
  return index % 2 === 0 || pid === undefined
    ? { path: '/v1/agents?limit=20' }
    : { path: `/v1/processes/${pid}` }
}

async function running(daemon: Daemon, pids: readonly string[]): Promise<number> {
  let count = 0
  for (const pid of pids) {
    const shown = (await daemon.asker.json({ path: `/v1/agents/${pid}/log?last=1` })) as OutputOf<'agentLog'>
    if (shown.phase === 'running') count += 1
  }
  return count
}
