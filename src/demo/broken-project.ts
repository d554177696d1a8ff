import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const SOURCE = `export function sum(a, b) {
  return a - b
}
`

/** Each run of the test notes itself in a file. The first one waits until it is released. */
const TEST = `import assert from 'node:assert'
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { sum } from './sum.js'

test('adds', async () => {
  if (process.env.UNCOUNTED !== '1') appendFileSync('runs', 'ran\\n')
  const isFirst = readFileSync('runs', 'utf8') === 'ran\\n'
  while (isFirst && !existsSync('released')) await new Promise((resolve) => setTimeout(resolve, 20))
  assert.equal(sum(1, 2), 3)
})
`

/** A folder with a defect, which `scripted/demo` repairs. */
export class BrokenProject {
  readonly folder: string

  constructor(folder: string) {
    this.folder = folder
    mkdirSync(folder)
    this.#write('package.json', '{ "type": "module" }\n')
    this.#write('sum.js', SOURCE)
    this.#write('sum.test.js', TEST)
    this.#write('runs', '')
  }

  /** How often the tests were run, counted by the tests. */
  testRuns(): number {
    return this.#read('runs').split('\n').length - 1
  }

  /** Lets the first run end. */
  release(): void {
    this.#write('released', '')
  }

  source(): string {
    return this.#read('sum.js')
  }

  /** Runs the tests here, without Reeve. */
  testsPass(): boolean {
    const env = { ...process.env, UNCOUNTED: '1' }
    const { status } = spawnSync(process.execPath, ['--test'], { cwd: this.folder, env, stdio: 'ignore' })
    return status === 0
  }

  #read(name: string): string {
    return readFileSync(join(this.folder, name), 'utf8')
  }

  #write(name: string, text: string): void {
    writeFileSync(join(this.folder, name), text)
  }
}
