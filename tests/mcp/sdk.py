"""Uses `tracesql mcp` through the Python SDK of the protocol.

Usage: sdk.py MODE PROGRAM STORE. MODE is that of the SDK: auto, legacy, or a version.
The SDK compares each answer of a tool with the schema that the server declares for it.
"""

import asyncio
import json
import sys
import time

from mcp import MCPError, StdioServerParameters
from mcp.client.client import Client

CALLS = [
    ("overview", {}),
    ("list_views", {"text": "gpu idle"}),
    ("describe_view", {"name": "gpu_idle_causes", "sql": True}),
    (
        "query",
        {
            "sql": "SELECT count(*) FROM kernels WHERE kind = $kind",
            "parameters": {"kind": "kernel"},
        },
    ),
    ("query", {"sql": "SELECT * FROM events"}),
    ("query", {"sql": "SELECT * FROM kernels", "columns_only": True}),
    ("query", {"sql": "SELECT * FROM steps", "summary": True}),
    ("findings", {"severity": "high"}),
    ("compare", {"base": "synthetic_gpu_rank0", "candidate": "synthetic_gpu_rank1"}),
    ("event", {"event_id": 100, "trace": "synthetic_gpu_rank0"}),
    ("functions", {"text": "interval"}),
]


async def main(mode, program, store):
    server = StdioServerParameters(command=program, args=["mcp", store])
    async with Client(server, mode=mode) as client:
        tools = (await client.list_tools()).tools
        assert len(tools) == 8, [tool.name for tool in tools]
        assert {name for name, _ in CALLS} == {tool.name for tool in tools}
        for name, arguments in CALLS:
            result = await client.call_tool(name, arguments)
            assert not result.is_error, (name, result.content)
            assert json.loads(result.content[0].text) == result.structured_content, name
        wrong = await client.call_tool("query", {"sql": "SELECT nam FROM kernels"})
        assert wrong.is_error and "did you mean name?" in wrong.content[0].text, wrong

        resources = (await client.list_resources()).resources
        for resource in resources:
            contents = (await client.read_resource(resource.uri)).contents
            assert contents[0].text, resource.uri
        templates = (await client.list_resource_templates()).resource_templates
        assert templates[0].uri_template == "tracesql://docs/view/{name}", templates
        try:
            await client.read_resource("tracesql://docs/view/nobody")
            raise AssertionError("a resource that does not exist was read")
        except MCPError:
            pass
        prompts = (await client.list_prompts()).prompts
        assert [prompt.name for prompt in prompts][0] == "why_is_it_slow", prompts
        prompt = await client.get_prompt("why_is_it_slow", {})
        assert "step_time" in prompt.messages[0].content.text

        # A client that stops waiting cancels, and the server is free again.
        endless = """
            SELECT count(*) FROM events a, events b, events c WHERE a.ts_ns * b.ts_ns < c.ts_ns"""
        for _ in range(4):
            try:
                await asyncio.wait_for(client.call_tool("query", {"sql": endless}), 0.3)
                raise AssertionError("an endless query ended")
            except (TimeoutError, asyncio.TimeoutError):
                pass
        start = time.monotonic()
        result = await client.call_tool("query", {"sql": "SELECT 42 AS answer"})
        assert result.structured_content["rows"] == [[42]], result
        assert time.monotonic() - start < 5, "cancelled queries hold up others"
    print("ok")


asyncio.run(main(*sys.argv[1:]))
