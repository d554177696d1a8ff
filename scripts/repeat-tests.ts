/**
 * Runs the tests several times under load, and counts which tests failed and which passed only when retried.
 * Exit code 1 if a run failed, or if a test was retried twice or more.
 *
 *   npm run test:repeat -- --runs 10 --busy 2
 *
 * Arguments after a second `--` go to Vitest.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { parseArgs } from 'node:util'
import type { Failure, RunRecord } from '../test/reporting/closing-summary.ts'

const { values, positionals: vitestArgs } = parseArgs({
  allowPositionals: true,
  options: {
    runs: { type: 'string', default: '10' },
    busy: { type: 'string', default: '2' },
    minutes: { type: 'string', default: '60' },
  },
})
const runs = countOf('runs', values.runs, 1)
const busy = countOf('busy', values.busy, 0)
/** A longer run is killed and counts as failed. */
const limitMs = countOf('minutes', values.minutes, 1) * 60_000

/** Ends the current run. */
const stopped = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopped.abort())

const folder = mkdtempSync(join(tmpdir(), 'reeve-repeat-'))
const busyLoops = Array.from({ length: busy }, startBusyLoop)
const records: (RunRecord | undefined)[] = []
const failedRuns: number[] = []
try {
  for (let run = 1; run <= runs; run++) await runOnce(run)
} finally {
  await Promise.all(busyLoops.map(stop))
}
process.exitCode = report() ? 0 : 1

async function runOnce(run: number): Promise<void> {
  const recordFile = join(folder, `run-${run}.json`)
  const startedAt = performance.now()
  const vitest = spawn('vitest', ['run', ...vitestArgs], {
    env: { ...process.env, REEVE_TEST_RECORD: recordFile },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: limitMs,
    signal: stopped.signal,
  })
  const exited = once(vitest, 'exit') as Promise<[code: number | null]>
  const log = createWriteStream(join(folder, `run-${run}.log`))
  vitest.stderr.pipe(log, { end: false })
  const [[code]] = await Promise.all([exited, pipeline(vitest.stdout, log)])
  const record = existsSync(recordFile)
    ? (JSON.parse(readFileSync(recordFile, 'utf8')) as RunRecord)
    : undefined
  records.push(record)
  if (code !== 0) failedRuns.push(run)
  const seconds = Math.round((performance.now() - startedAt) / 1000)
  console.log(
    `run ${run} of ${runs}: ${code === 0 ? 'passed' : 'failed'} after ${seconds} s, ${inShort(record)}`,
  )
}

function inShort(record: RunRecord | undefined): string {
  if (record === undefined) return 'without a summary'
  const { passed, failed, skipped, retried } = record
  return `${passed} passed, ${failed.length} failed, ${skipped.length} skipped, ${retried.length} at the second try`
}

/** Prints the summary; returns whether all runs passed. */
function report(): boolean {
  const failed = counted(records.flatMap((record) => record?.failed ?? []))
  const retried = counted(records.flatMap((record) => record?.retried ?? []))
  console.log(`\n${runs} runs beside ${busy} busy loops`)
  console.log(`runs: ${runs - failedRuns.length} passed, ${failedRuns.length} failed`)
  console.log(`tests that failed: ${failed.length}`)
  printTable(failed)
  console.log(`tests that needed a second try: ${retried.length}`)
  printTable(retried)
  if (failedRuns.length === 0 && retried.length === 0) rmSync(folder, { recursive: true })
  else console.log(`what the runs printed: ${folder}`)
  return failedRuns.length === 0 && retried.every(({ times }) => times < 2)
}

interface CountedFailure extends Failure {
  readonly times: number
}

/** Each test once, with its first error, most frequent first. */
function counted(failures: readonly Failure[]): CountedFailure[] {
  return [...Map.groupBy(failures, ({ test }) => test)]
    .map(([test, found]) => ({ test, error: found[0]?.error ?? '', times: found.length }))
    .sort((a, b) => b.times - a.times)
}

function printTable(rows: readonly CountedFailure[]): void {
  for (const { test, error, times } of rows) console.log(`  ${times} × ${test}\n      ${error}`)
}

/** The loop ends when this process has ended. */
function startBusyLoop(): ChildProcess {
  return spawn(process.execPath, ['-e', `while (process.ppid === ${process.pid});`], { stdio: 'ignore' })
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, 'exit')
  child.kill('SIGKILL')
  await gone
}

function countOf(name: string, given: string, least: number): number {
  const count = Number(given)
  if (Number.isInteger(count) && count >= least) return count
  console.error(`--${name} takes a whole number of at least ${least}, not '${given}'.`)
  process.exit(2)
}
