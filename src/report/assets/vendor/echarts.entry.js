// The parts of Apache ECharts that the report draws with.
import { use, init } from "echarts/core";
import { BarChart, LineChart, SunburstChart } from "echarts/charts";
import { AriaComponent, DataZoomComponent, GridComponent, LegendComponent, MarkPointComponent, TooltipComponent } from "echarts/components";
import { CanvasRenderer } from "echarts/renderers";

use([BarChart, LineChart, SunburstChart, AriaComponent, DataZoomComponent, GridComponent, LegendComponent, MarkPointComponent, TooltipComponent, CanvasRenderer]);

export { init };
