#!/usr/bin/env node
import { start } from '../lib/cli/start.js'

void start('hf-profile', async () => (await import('../lib/cli/commands/profile.js')).profile)
