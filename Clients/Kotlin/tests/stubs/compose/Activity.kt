package androidx.activity

import android.content.Context
import android.os.Bundle
import androidx.lifecycle.Lifecycle
import androidx.lifecycle.LifecycleOwner
import androidx.lifecycle.ViewModel

open class ComponentActivity : Context(), LifecycleOwner {
    override val lifecycle = Lifecycle()

    protected open fun onCreate(savedInstanceState: Bundle?) {}

    open fun setContentView(view: android.view.View) {}
}

inline fun <reified Model : ViewModel> ComponentActivity.viewModels(): Lazy<Model> = lazy { Model::class.java.getDeclaredConstructor().newInstance() }
