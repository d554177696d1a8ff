import type { Commands } from '../command/commands.ts'
import type { CommandOutput } from '../command/output/command-output.ts'
import { isNativeAgent } from '../core/agent/state.ts'
import { RefusedError } from '../core/errors.ts'
import type { ProcessRecord } from '../core/process/record.ts'
import { refusal } from '../core/refusal.ts'
import type { HeldBack } from '../keeper/protocol/program-state.ts'

/** The output logs, for a verb that reads what a command prints, or what the model of an agent streams. */
export function outputIn(commands: Commands | undefined, record: ProcessRecord): CommandOutput {
  return isNativeAgent(record) ? served(commands).output : commandIn(commands, record).output
}

/** The command executor, for a verb that applies to commands only. */
export function commandIn(commands: Commands | undefined, { kind, pid }: ProcessRecord): Commands {
  if (kind !== 'command') {
    throw new RefusedError(
      refusal(
        'not_command',
        `${pid} is of kind ${kind}; only commands have output, input and a terminal.`,
        'Look at its events and its outcome instead.',
      ),
    )
  }
  return served(commands)
}

/** The command executor; refused where this program runs no commands. */
export function served(commands: Commands | undefined): Commands {
  if (commands === undefined) {
    throw new RefusedError(
      refusal(
        'not_served',
        'This program runs no commands.',
        "Give embed a folder for them: commands: { home: 'reeve-data' }.",
      ),
    )
  }
  return commands
}

/** For a running command: since when, and how many bytes of, its output wait for space on the disk. */
export function heldBackIn(
  commands: Commands | undefined,
  { kind, pid, outcome }: ProcessRecord,
): { readonly heldBack?: HeldBack } {
  const heldBack = kind === 'command' && outcome === null ? commands?.heldBack(pid) : undefined
  return heldBack === undefined ? {} : { heldBack }
}
