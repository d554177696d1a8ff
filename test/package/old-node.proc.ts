import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { bundle } from '../../scripts/build.ts'

/** A Node that is too old for Reeve, where this machine has one. */
const old = ['/usr/bin/node', '/usr/local/bin/node'].find((path) => existsSync(path) && majorOf(path) < 24)

test.skipIf(old === undefined)(
  'under an older Node every import says which one is needed, and how to get it',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'old-node-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    await bundle(join(folder, 'dist'))
    symlinkSync(resolve('node_modules'), join(folder, 'node_modules'))
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
    for (const name of ['index', 'sqlite', 'postgres'])
      expect(importing(join(folder, 'dist', `${name}.js`)), name).toMatch(
        /^Reeve needs Node 24 or newer, and this is Node \d+\.\d+\.\d+\. .*npx node/,
      )
  },
)

function importing(file: string): string {
  const script = `import(${JSON.stringify(file)}).then(() => console.log('imported'), (error) => console.log(error.message))`
  return execFileSync(old as string, ['--input-type=module', '-e', script], { encoding: 'utf8' })
}

function majorOf(path: string): number {
  return Number(/^v(\d+)/.exec(execFileSync(path, ['--version'], { encoding: 'utf8' }))?.[1])
}
