import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import type { Reeve } from '../../src/index.ts'
import type { Built } from './build.ts'

/** What the measurements of a run share. */
export interface Setup {
  /** From the build, so that its keeper starts as a user's does. */
  readonly embed: typeof import('../../src/index.ts').embed
  readonly built: Built
  readonly folder: string
}

export interface Embedded {
  readonly reeve: Reeve
  readonly keeperPid: number
  close(): Promise<void>
}

export function freshFolder({ folder }: Setup, name: string): string {
  return mkdtempSync(join(folder, `${name}-`))
}

/** Reeve in this OS process, on a new SQLite file, with nothing set that a user would not have set. */
export async function openReeve(setup: Setup): Promise<Embedded> {
  const folder = freshFolder(setup, 'reeve')
  const reeve = await setup.embed({
    store: join(folder, 'reeve.db'),
    commands: { home: join(folder, 'home') },
  })
  const { keeper } = await reeve.status()
  if (keeper === null) throw new Error('There is no keeper.')
  // The first command waits until the user's login environment has been read, which happens once.
  const { record } = await reeve.spawn(command('true'))
  await reeve.wait({ pid: record.pid })
  return {
    reeve,
    keeperPid: keeper.osPid,
    async close() {
      await reeve.killAll({ graceMs: 1 })
      await reeve.close()
    },
  }
}

/** As `child_process` with `shell: true` does it. */
export function command(line: string, more: { readonly pty?: boolean; readonly keepBytes?: number } = {}) {
  return { kind: 'command' as const, spec: { argv: ['/bin/sh', '-c', line], ...more } }
}

export function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
