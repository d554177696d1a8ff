import { isExecutable } from '../../os/file-access.ts'
import { limitsOf, type ResourceLimit, type ResourceLimits } from '../../os/resource-limits.ts'
import type { SpawnPlan } from '../protocol/spawn-plan.ts'

const PRLIMIT = ['/usr/bin/prlimit', '/bin/prlimit']

/**
 * Arguments of prlimit(1) that give a program the resource limits of its caller, as far as they differ from the keeper's own.
 * A limit above the keeper's hard limit cannot be set, so the keeper's applies there. Empty if there is nothing to set, no
 * prlimit, or no /proc.
 */
export function limitArguments({ rlimits }: Pick<SpawnPlan, 'rlimits'>): readonly string[] {
  if (rlimits === undefined) return []
  const settings = changedLimits(rlimits, limitsOf('self'))
  const program = settings.length === 0 ? undefined : PRLIMIT.find(isExecutable)
  return program === undefined ? [] : [program, ...settings, '--']
}

export function changedLimits(wanted: ResourceLimits, own: ResourceLimits): string[] {
  return Object.entries(wanted).flatMap(([name, [soft, hard]]) => {
    const mine = own[name]
    if (mine === undefined) return []
    const highest = lower(hard, mine[1])
    const limit: ResourceLimit = [lower(soft, highest), highest]
    return limit[0] === mine[0] && limit[1] === mine[1] ? [] : [`--${name}=${limit.map(textOf).join(':')}`]
  })
}

/** Runs `fork`, which must fork before it returns, with this umask. */
export function withUmask<Answer>(umask: number | undefined, fork: () => Answer): Answer {
  if (umask === undefined) return fork()
  const before = process.umask(umask)
  try {
    return fork()
  } finally {
    process.umask(before)
  }
}

function lower(one: number | null, other: number | null): number | null {
  if (one === null || other === null) return one ?? other
  return Math.min(one, other)
}

function textOf(limit: number | null): string {
  return limit === null ? 'unlimited' : String(limit)
}
