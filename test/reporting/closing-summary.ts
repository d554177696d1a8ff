/**
 * A Vitest reporter that adds what the default one leaves out: why each test was skipped, and which tests passed only
 * when retried. Its last line is `N passed, N failed, N skipped`.
 *
 * With REEVE_TEST_RECORD=<file>, one line of JSON per run is appended to that file (`RunRecord`), so that
 * several runs can be added up.
 */
import { appendFileSync } from 'node:fs'
import type { Reporter, SerializedError, TestCase, TestModule, Vitest } from 'vitest/node'

/** The results of one run. */
export interface RunRecord {
  readonly passed: number
  readonly failed: readonly Failure[]
  /** Tests that passed after they had failed, each with its first error. */
  readonly retried: readonly Failure[]
  readonly skipped: readonly Skip[]
}

export interface Failure {
  readonly test: string
  readonly error: string
}

interface Skip {
  readonly test: string
  readonly file: string
  readonly reason: string
}

export class ClosingSummary implements Reporter {
  #vitest: Vitest | undefined

  onInit(vitest: Vitest): void {
    this.#vitest = vitest
  }

  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    const isFiltered = this.#vitest?.config.testNamePattern !== undefined
    const tests = modules.flatMap((module) => [...module.children.allTests()])
    const record: RunRecord = {
      passed: tests.filter((test) => test.result().state === 'passed').length,
      failed: [
        ...tests.flatMap((test) => (test.result().state === 'failed' ? [failureOf(test)] : [])),
        ...modules.flatMap(failuresOutsideTests),
        ...unhandled.map((error) => ({ test: 'outside of all tests', error: firstLine(error) })),
      ],
      retried: tests.flatMap((test) => (test.diagnostic()?.flaky === true ? [failureOf(test)] : [])),
      skipped: tests.flatMap((test) => skipOf(test, isFiltered)),
    }
    const file = process.env['REEVE_TEST_RECORD']
    if (file !== undefined) appendFileSync(file, `${JSON.stringify(record)}\n`)
    const text = [...notesOf(tests), ...linesOf(record)].join('\n')
    if (this.#vitest === undefined) console.log(text)
    else this.#vitest.logger.log(text)
  }
}

function linesOf({ passed, failed, retried, skipped }: RunRecord): string[] {
  const reasons = Map.groupBy(skipped, ({ reason }) => reason)
  return [
    ...[...reasons].map(([reason, tests]) => `skipped: ${tests.length}, ${reason} (${filesOf(tests)})`),
    ...retried.map(({ test, error }) => `second try: ${test}: ${error}`),
    `${passed} passed, ${failed.length} failed, ${skipped.length} skipped`,
  ]
}

/** A test annotates itself if this machine allows only weaker evidence. */
function notesOf(tests: readonly TestCase[]): string[] {
  return tests.flatMap((test) => test.annotations().map(({ message }) => `note: ${nameOf(test)}: ${message}`))
}

function filesOf(tests: readonly Skip[]): string {
  const files = Map.groupBy(tests, ({ file }) => file)
  return [...files].map(([file, { length }]) => (length === 1 ? file : `${length} in ${file}`)).join(', ')
}

function skipOf(test: TestCase, isFiltered: boolean): Skip[] {
  const result = test.result()
  if (result.state !== 'skipped') return []
  const fallback = isFiltered ? 'not selected by name' : 'no reason given'
  return [{ test: nameOf(test), file: test.module.relativeModuleId, reason: result.note ?? fallback }]
}

function failureOf(test: TestCase): Failure {
  return { test: nameOf(test), error: firstLine(test.result().errors?.[0]) }
}

/** Errors of a file that failed to load, and of its hooks. */
function failuresOutsideTests(module: TestModule): Failure[] {
  const suites = [module, ...module.children.allSuites()]
  return suites.flatMap((suite) =>
    suite.errors().map((error) => ({
      test:
        suite.type === 'module' ? suite.relativeModuleId : `${module.relativeModuleId} > ${suite.fullName}`,
      error: firstLine(error),
    })),
  )
}

function nameOf(test: TestCase): string {
  return `${test.module.relativeModuleId} > ${test.fullName}`
}

interface SomeError {
  readonly name?: string
  readonly message: string
  /** Of a SuppressedError: the first error, before the clean-up failed, too. */
  readonly suppressed?: unknown
}

function firstLine(error: SomeError | undefined): string {
  if (error === undefined) return 'unknown error'
  if (isError(error.suppressed)) return firstLine(error.suppressed)
  const [line = ''] = error.message.split('\n')
  return error.name === undefined ? line : `${error.name}: ${line}`
}

function isError(thrown: unknown): thrown is SomeError {
  return (
    typeof thrown === 'object' && thrown !== null && 'message' in thrown && typeof thrown.message === 'string'
  )
}
