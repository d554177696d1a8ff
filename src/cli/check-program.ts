import { existsSync } from 'node:fs'
import type { CommandRequest } from './command-request.ts'
import type { Context } from './context.ts'
import { type FoundProgram, findProgram } from './find-program.ts'

/** The exit codes of a shell. */
const NOT_EXECUTABLE = 126
const NOT_FOUND = 127

/** The exit code of `reeve run` for a command that could not be started. */
export function cannotStartCode(request: CommandRequest): number {
  return programState(request) === 'missing' ? NOT_FOUND : NOT_EXECUTABLE
}

interface ReplacementFailure {
  readonly code: string
  readonly message: string
  readonly remedy: string
  readonly exitCode: number
}

/** `--replace` ends the process of the name first, which must not happen for a command that cannot be started. */
export function replacementFailure(
  { url, token }: Context<unknown>,
  request: CommandRequest,
): ReplacementFailure | null {
  // The daemon may be on another machine, whose programs cannot be looked up here.
  if (url !== undefined || token !== undefined) return null
  const why = whyNotStarted(request)
  if (why === null) return null
  return {
    code: 'failed_start',
    message: `Nothing was replaced: ${why}.`,
    remedy: 'Correct the command. A process of that name was left as it was.',
    exitCode: cannotStartCode(request),
  }
}

function whyNotStarted(request: CommandRequest): string | null {
  const { cwd, spec } = request
  if (cwd !== undefined && !existsSync(cwd)) return `there is no folder ${cwd}`
  const [program = ''] = spec.argv ?? []
  switch (programState(request)) {
    case 'runnable':
      return null
    case 'not executable':
      return `${program} is not executable`
    case 'missing':
      return program.includes('/') ? `there is no ${program}` : `there is no ${program} in PATH`
  }
}

/** By the PATH that the command gets. A line (`-c`) is for the shell to judge. */
function programState({ spec, cwd, inherited }: CommandRequest): FoundProgram {
  const [program] = spec.argv ?? []
  if (program === undefined) return 'runnable'
  const path = spec.env?.['PATH'] ?? inherited?.env['PATH'] ?? ''
  return findProgram(program, { path, cwd: cwd ?? '.' })
}
