import type { Check } from '../cli/daemon-control.ts'
import { isWritable } from '../os/file-access.ts'

/** Checks of the machine, which are the same for every home. */
export async function* machineChecks(): AsyncGenerator<Check, void, void> {
  yield node()
  yield system()
  yield await terminals()
  yield await cgroups()
}

function node(): Check {
  const name = 'Node'
  const found = process.version
  if (Number(process.versions.node.split('.')[0]) >= 24) return { name, state: 'good', found }
  return { name, state: 'bad', found, fix: 'Reeve needs Node 24 or newer.' }
}

function system(): Check {
  const name = 'system'
  const found = `${process.platform} ${process.arch}`
  if (process.platform === 'linux') return { name, state: 'good', found }
  return { name, state: 'bad', found, fix: 'Commands need Linux; everything else works here.' }
}

async function terminals(): Promise<Check> {
  const name = 'terminals'
  try {
    const { spawn } = await import('@lydell/node-pty')
    const code = await new Promise<number>((resolve) => {
      spawn('/bin/sh', ['-c', 'test -t 1'], {}).onExit(({ exitCode }) => resolve(exitCode))
    })
    if (code === 0) return { name, state: 'good', found: 'a program gets one' }
    const fix = 'Look whether /dev/pts is mounted.'
    return { name, state: 'bad', found: `a program in one ended with ${code}`, fix }
  } catch (error) {
    const fix = 'Install again with optional dependencies: npm ci --include=optional.'
    return { name, state: 'bad', found: (error as Error).message, fix }
  }
}

/** Optional: without cgroups, a program that leaves its process group and clears its environment is not found. */
async function cgroups(): Promise<Check> {
  const name = 'cgroups'
  const { ownCgroups } = await import('../os/own-cgroups.ts')
  const { unified } = ownCgroups()
  if (unified !== null && isWritable(unified)) return { name, state: 'good', found: unified }
  return {
    name,
    state: 'poor',
    found: unified === null ? 'there is no cgroup v2 here' : `${unified} cannot be divided by this user`,
    fix: 'Trees are then found by group, parents and environment; systemd-run --user --scope gives a cgroup of your own.',
  }
}
