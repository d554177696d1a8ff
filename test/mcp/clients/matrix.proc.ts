/**
 * Real coding agents against Reeve. Each works on one prompt, with a model that the test plays: it calls every tool, while the
 * daemon is killed between two calls and during a call. `npm run test:clients` installs the clients and runs this.
 */
import { test } from 'vitest'
import { Cell } from './cell.ts'
import {
  callsEveryOtherTool,
  offersEveryTool,
  survivesKillBetweenCalls,
  survivesKillDuringCall,
} from './conversation.ts'
import { claudeCode } from './drivers/claude-code.ts'
import { codex } from './drivers/codex.ts'
import { geminiCli } from './drivers/gemini-cli.ts'
import { opencode } from './drivers/opencode.ts'
import { installed } from './installed.ts'

/** A cell takes 7 to 30 seconds on an idle machine, and several times that on a busy one. */
const timeout = 300_000

for (const driver of [codex, claudeCode, opencode, geminiCli])
  for (const door of ['stdio', 'http'] as const)
    test(`${driver.name} over ${door} calls every tool, and no output is lost when the daemon is killed`, {
      timeout,
    }, async ({ skip }) => {
      const client = installed(driver)
      if (client.missing !== null) return skip(client.missing)
      const cell = await Cell.open(driver, client.command, door)
      await offersEveryTool(cell)
      const echo = await survivesKillBetweenCalls(cell)
      await survivesKillDuringCall(cell)
      await callsEveryOtherTool(cell, echo)
      await cell.finish()
    })
