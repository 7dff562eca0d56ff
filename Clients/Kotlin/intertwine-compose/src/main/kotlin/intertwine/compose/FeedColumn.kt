package intertwine.compose

import androidx.compose.foundation.ExperimentalFoundationApi
import androidx.compose.foundation.background
import androidx.compose.foundation.combinedClickable
import androidx.compose.foundation.layout.Box
import androidx.compose.foundation.layout.BoxScope
import androidx.compose.foundation.layout.Column
import androidx.compose.foundation.layout.fillMaxSize
import androidx.compose.foundation.layout.fillMaxWidth
import androidx.compose.foundation.layout.height
import androidx.compose.foundation.layout.heightIn
import androidx.compose.foundation.layout.padding
import androidx.compose.foundation.lazy.LazyColumn
import androidx.compose.foundation.lazy.LazyListLayoutInfo
import androidx.compose.foundation.lazy.LazyListScope
import androidx.compose.foundation.lazy.LazyListState
import androidx.compose.foundation.lazy.rememberLazyListState
import androidx.compose.material3.Button
import androidx.compose.material3.CircularProgressIndicator
import androidx.compose.material3.DropdownMenu
import androidx.compose.material3.DropdownMenuItem
import androidx.compose.material3.MaterialTheme
import androidx.compose.material3.SnackbarDuration
import androidx.compose.material3.SnackbarHost
import androidx.compose.material3.SnackbarHostState
import androidx.compose.material3.SnackbarResult
import androidx.compose.material3.Text
import androidx.compose.runtime.Composable
import androidx.compose.runtime.CompositionLocalProvider
import androidx.compose.runtime.DisposableEffect
import androidx.compose.runtime.LaunchedEffect
import androidx.compose.runtime.collectAsState
import androidx.compose.runtime.getValue
import androidx.compose.runtime.mutableStateOf
import androidx.compose.runtime.remember
import androidx.compose.runtime.rememberCoroutineScope
import androidx.compose.runtime.rememberUpdatedState
import androidx.compose.runtime.setValue
import androidx.compose.runtime.snapshotFlow
import androidx.compose.ui.Alignment
import androidx.compose.ui.Modifier
import androidx.compose.ui.platform.LocalDensity
import androidx.compose.ui.platform.LocalUriHandler
import androidx.compose.ui.semantics.CustomAccessibilityAction
import androidx.compose.ui.semantics.LiveRegionMode
import androidx.compose.ui.semantics.contentDescription
import androidx.compose.ui.semantics.customActions
import androidx.compose.ui.semantics.heading
import androidx.compose.ui.semantics.liveRegion
import androidx.compose.ui.semantics.semantics
import androidx.compose.ui.unit.dp
import androidx.lifecycle.Lifecycle
import androidx.lifecycle.compose.LocalLifecycleOwner
import androidx.lifecycle.repeatOnLifecycle
import intertwine.client.CellSlot
import intertwine.client.FeedCell
import intertwine.client.FeedClient
import intertwine.client.FeedSection
import intertwine.ui.FeedEvent
import intertwine.ui.FeedModel
import intertwine.ui.FeedState
import kotlinx.coroutines.launch
import kotlinx.serialization.json.JsonObject

/**
 * A feed in a `LazyColumn`: sections, ads with their label, placeholders for unknown cells, a menu by a long press, a snack bar with undo, a button
 * for new cells, and impressions.
 *
 * ```kotlin
 * FeedColumn(model) {
 *     cell("UserTableViewCell") { cell ->
 *         Row {
 *             FeedImage(cell, "avatar", Modifier.size(60.dp))
 *             Text(cell.bindings["username"]?.text.orEmpty())
 *         }
 *     }
 * }
 * ```
 *
 * It follows the feed while its screen is started. Heights follow the text size of the device as the server declares it, and are minimum
 * heights. The actions of a cell are actions for accessibility services too.
 *
 * @param model the state of the feed, in a `ViewModel` of the app.
 * @param state the position of the list.
 * @param onPresent called for a presentation in the response to a gesture, with its `screen` and `arguments`.
 * @param cells declares the composables by the identifiers of cells.
 */
@Composable
public fun FeedColumn(
    model: FeedModel,
    modifier: Modifier = Modifier,
    state: LazyListState = rememberLazyListState(),
    onPresent: (presentation: JsonObject) -> Unit = {},
    cells: FeedCells.() -> Unit,
) {
    val feed by model.state.collectAsState()
    val contents = FeedCells().apply(cells)
    FollowFeed(model, state, onPresent)
    Box(modifier) {
        LazyColumn(Modifier.fillMaxSize(), state) {
            feed.sections.forEachIndexed { index, section -> section(index, section, model, contents) }
            end(feed, model)
        }
        FirstPage(feed, model)
        NewCells(feed, model, state)
        Notices(feed, model)
    }
}

/**
 * A feed in a `LazyColumn`, with a model that lives as long as the composable. After a rotation it loads the feed again; an app prevents that by a
 * [FeedModel] in its `ViewModel`.
 *
 * ```kotlin
 * FeedColumn(client) {
 *     cell("UserTableViewCell") { cell -> Text(cell.bindings["username"]?.text.orEmpty()) }
 * }
 * ```
 */
@Composable
public fun FeedColumn(
    client: FeedClient,
    modifier: Modifier = Modifier,
    onPresent: (presentation: JsonObject) -> Unit = {},
    cells: FeedCells.() -> Unit,
) {
    val scope = rememberCoroutineScope()
    val model = remember(client) { FeedModel(client, scope) }
    DisposableEffect(model) { onDispose { model.close() } }
    FeedColumn(model, modifier, onPresent = onPresent, cells = cells)
}

/** Runs the model, and reports the visible rows, while the screen is started. */
@Composable
private fun FollowFeed(model: FeedModel, state: LazyListState, onPresent: (JsonObject) -> Unit) {
    val lifecycle = LocalLifecycleOwner.current.lifecycle
    val browser = LocalUriHandler.current
    val present by rememberUpdatedState(onPresent)
    LaunchedEffect(model, state, lifecycle) {
        lifecycle.repeatOnLifecycle(Lifecycle.State.STARTED) {
            try {
                launch { model.run() }
                launch {
                    model.events.collect { event ->
                        when (event) {
                            is FeedEvent.Open -> openUri(event.url, browser::openUri)
                            is FeedEvent.Present -> present(event.presentation)
                        }
                    }
                }
                snapshotFlow { visibleShares(state.layoutInfo) }.collect { model.setVisible(it) }
            } finally {
                model.setVisible(emptyMap())
            }
        }
    }
}

private fun openUri(url: String, open: (String) -> Unit) {
    try {
        open(url)
    } catch (_: IllegalArgumentException) {
        // The device has no browser.
    }
}

/** Returns the visible fraction of each row by its key. */
private fun visibleShares(layout: LazyListLayoutInfo): Map<Long, Float> {
    val shares = HashMap<Long, Float>()
    for (item in layout.visibleItemsInfo) {
        val key = item.key as? Long ?: continue
        val visible = minOf(item.offset + item.size, layout.viewportEndOffset) - maxOf(item.offset, layout.viewportStartOffset)
        if (item.size > 0) shares[key] = (visible.toFloat() / item.size).coerceIn(0f, 1f)
    }
    return shares
}

private fun LazyListScope.section(index: Int, section: FeedSection, model: FeedModel, contents: FeedCells) {
    val header = section.header
    if (header != null) {
        // With the index, because a list can have a header twice.
        item(key = "$index ${header.id}", contentType = typeOf(header, contents, HEADER)) { Header(header, model, contents) }
    }
    items(
        section.rows.size,
        key = { section.rows[it].key },
        contentType = { typeOf(section.rows[it].cell, contents, PLACEHOLDER) },
    ) {
        Row(section.rows[it], model, contents)
    }
}

private fun LazyListScope.end(feed: FeedState, model: FeedModel) {
    if (feed.sections.isEmpty()) return
    if (feed.nextProblem != null || feed.phase is FeedState.Phase.Failed) {
        item(key = RETRY, contentType = RETRY) { Button(onClick = { model.retry() }) { Text(model.texts.retry) } }
    } else if (!feed.isAtEnd) {
        item(key = PROGRESS, contentType = PROGRESS) { CircularProgressIndicator() }
    }
}

private fun typeOf(cell: FeedCell, contents: FeedCells, other: String): String =
    if (contents.content(cell) == null) other else cell.identifier ?: other

@Composable
private fun Header(cell: FeedCell, model: FeedModel, contents: FeedCells) {
    Column(Modifier.fillMaxWidth().semantics(mergeDescendants = true) { heading() }) {
        val content = contents.content(cell)
        if (content != null) {
            CompositionLocalProvider(LocalFeedRow provides remember(model) { FeedRow(model, null) }) { content(cell) }
        } else {
            val texts = cell.bindings.values.mapNotNull { it.text }
            Text(texts.joinToString(" "), Modifier.padding(8.dp), style = MaterialTheme.typography.titleMedium)
        }
    }
}

@OptIn(ExperimentalFoundationApi::class)
@Composable
private fun Row(row: FeedSection.Row, model: FeedModel, contents: FeedCells) {
    val cell = row.cell
    val height = cell.size.height(LocalDensity.current.fontScale).dp
    val menu = model.texts.menu(cell)
    var isMenuShown by remember { mutableStateOf(false) }
    val actions = menu.map { (slot, title) -> CustomAccessibilityAction(title) { model.perform(slot, cell).let { true } } }
    var modifier = Modifier.fillMaxWidth().heightIn(min = height)
    val isSelectable = CellSlot.Selection in cell.actions
    if (isSelectable || menu.isNotEmpty()) {
        modifier =
            modifier.combinedClickable(
                onLongClickLabel = model.texts.more,
                onLongClick = if (menu.isEmpty()) null else ({ isMenuShown = true }),
            ) {
                if (isSelectable) model.perform(CellSlot.Selection, cell) else isMenuShown = true
            }
    }
    Column(modifier.semantics(mergeDescendants = true) { customActions = actions }) {
        val disclosure = model.texts.disclosure(cell)
        if (disclosure != null) {
            Text(disclosure, color = MaterialTheme.colorScheme.onSurfaceVariant, style = MaterialTheme.typography.labelSmall)
        }
        val content = contents.content(cell)
        if (content != null) {
            CompositionLocalProvider(LocalFeedRow provides remember(model, row.key) { FeedRow(model, row.key) }) { content(cell) }
        } else {
            val placeholder = Modifier.fillMaxWidth().height(height).background(MaterialTheme.colorScheme.surfaceVariant)
            Box(placeholder.semantics { contentDescription = model.texts.placeholder })
        }
        DropdownMenu(isMenuShown, onDismissRequest = { isMenuShown = false }) {
            for ((slot, title) in menu) {
                DropdownMenuItem(
                    text = { Text(title) },
                    onClick = {
                        isMenuShown = false
                        model.perform(slot, cell)
                    },
                )
            }
        }
    }
}

/** The state of the first page, over an empty list. */
@Composable
private fun BoxScope.FirstPage(feed: FeedState, model: FeedModel) {
    val problem = (feed.phase as? FeedState.Phase.Failed)?.problem
    when {
        problem != null && feed.sections.isEmpty() ->
            Column(Modifier.align(Alignment.Center), horizontalAlignment = Alignment.CenterHorizontally) {
                Text(model.texts.problem(problem), Modifier.padding(20.dp).semantics { liveRegion = LiveRegionMode.Polite })
                Button(onClick = { model.retry() }) { Text(model.texts.retry) }
            }
        feed.phase == FeedState.Phase.Loading -> CircularProgressIndicator(Modifier.align(Alignment.Center))
        feed.isEmpty -> Text(model.texts.empty, Modifier.align(Alignment.Center))
    }
}

@Composable
private fun BoxScope.NewCells(feed: FeedState, model: FeedModel, state: LazyListState) {
    val scope = rememberCoroutineScope()
    if (feed.newCount == 0) return
    val modifier = Modifier.align(Alignment.TopCenter).padding(8.dp).semantics { liveRegion = LiveRegionMode.Polite }
    Button(onClick = { scope.launch { state.animateScrollToItem(0) } }, modifier) { Text(model.texts.new(feed.newCount)) }
}

@Composable
private fun BoxScope.Notices(feed: FeedState, model: FeedModel) {
    val host = remember { SnackbarHostState() }
    val notice = feed.notice
    LaunchedEffect(notice?.id) {
        if (notice == null) return@LaunchedEffect
        val action = if (notice.undo == null) null else model.texts.undo
        val result = host.showSnackbar(notice.message, action, duration = SnackbarDuration.Long)
        if (result == SnackbarResult.ActionPerformed) model.undo(notice) else model.dismiss(notice)
    }
    SnackbarHost(host, Modifier.align(Alignment.BottomCenter))
}

private const val HEADER = "intertwine.header"
private const val PLACEHOLDER = "intertwine.placeholder"
private const val PROGRESS = "intertwine.progress"
private const val RETRY = "intertwine.retry"
